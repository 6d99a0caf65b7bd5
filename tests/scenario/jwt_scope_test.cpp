// Scopes of verified tokens and certificates (docs/routes.md, "Scopes").
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <fstream>
#include <sstream>

#include "scenario/scenario.hpp"
#include "support/certificates.hpp"
#include "support/tokens.hpp"

namespace idem::test {
namespace {

const std::string secret = "0123456789abcdef0123456789abcdef";

http_request charge_with(const std::string& key, const std::string& token) {
  return charge(key).with("Authorization", "Bearer " + token);
}

std::string claims(const std::string& subject, std::int64_t lives = 300, const std::string& more = {}) {
  return "{\"sub\":\"" + subject + "\",\"exp\":" + std::to_string(unix_now() + lives) + more + "}";
}

class a_token_scope : public on_every_store {
 protected:
  void serve(const std::string& keys, const std::string& more = {}) {
    start("scope: [\"jwt:sub\"], jwt: {" + keys + ", leeway: 0s}" + more);
  }
  std::string secret_file() { return folder.write("secret", secret + "\n"); }

  temporary_folder folder;
};
RUNS_ON_EVERY_STORE(a_token_scope);

TEST_P(a_token_scope, keeps_a_caller_whose_token_is_refreshed) {
  for (const char* algorithm : {"RS256", "ES256", "EdDSA"}) {
    const signing_key key(algorithm, "k");
    serve("jwks_file: " + folder.write("jwks", jwks({&key})));
    const auto first = proxy->fetch(charge_with(algorithm, key.token(claims("alice"))));
    EXPECT_TRUE(is_fresh(first, 200));
    EXPECT_TRUE(
        is_replay(proxy->fetch(charge_with(algorithm, key.token(claims("alice", 600, ",\"jti\":\"2\"")))), first));
    EXPECT_TRUE(is_fresh(proxy->fetch(charge_with(algorithm, key.token(claims("bob")))), 200));
    EXPECT_EQ(backend.count(algorithm), 2u);
  }
}

TEST_P(a_token_scope, is_not_had_by_a_forged_claim) {
  backend.on("*", reply(200, "alice's answer"));
  serve("hmac_secret_file: " + secret_file());
  const std::string good = hs256_token(secret, claims("alice"));
  EXPECT_TRUE(is_fresh(proxy->fetch(charge_with("k", good)), 200));
  backend.on("*", reply(401, "who are you"));
  const auto header = std::string(R"({"alg":"HS256"})"), none = std::string(R"({"alg":"none"})");
  for (const std::string& token :
       {hs256_token("another secret of 32 bytes......", claims("alice")), token_of(none, claims("alice"), ""),
        token_of(header, claims("alice"), ""), hs256_token(secret, claims("alice", -1)),
        hs256_token(secret, claims("alice", 300, ",\"nbf\":" + std::to_string(unix_now() + 100))),
        good.substr(0, good.size() - 2), std::string("x")}) {
    const auto answer = proxy->fetch(charge_with("k", token));
    EXPECT_TRUE(is_fresh(answer, 401)) << token;
    EXPECT_EQ(answer.body, "who are you");
  }
  EXPECT_TRUE(is_fresh(proxy->fetch(charge("k")), 401));
  EXPECT_EQ(backend.count("k"), 9u);
  EXPECT_EQ(proxy->fetch(charge_with("k", good)).body, "alice's answer");
}

TEST_P(a_token_scope, passes_what_does_not_verify_even_where_a_key_is_required) {
  serve("hmac_secret_file: " + secret_file(), ", key: {required: true}");
  backend.on("*", reply(401));
  EXPECT_TRUE(is_fresh(proxy->fetch(charge("")), 401));
  EXPECT_TRUE(is_problem(proxy->fetch(charge_with("", hs256_token(secret, claims("a")))), 400, "missing-key"));
}

TEST_P(a_token_scope, goes_by_issuer_and_audience) {
  serve("hmac_secret_file: " + secret_file() + ", issuer: \"https://id\", audience: pay");
  const auto token = [](const std::string& more) { return hs256_token(secret, claims("alice", 300, more)); };
  const auto good = token(R"(,"iss":"https://id","aud":["pay","x"])");
  const auto first = proxy->fetch(charge_with("k", good));
  EXPECT_TRUE(is_replay(proxy->fetch(charge_with("k", good)), first));
  EXPECT_TRUE(is_fresh(proxy->fetch(charge_with("k", token(R"(,"iss":"https://evil","aud":"pay")"))), 200));
  EXPECT_TRUE(is_fresh(proxy->fetch(charge_with("k", token(R"(,"iss":"https://id","aud":"other")"))), 200));
}

TEST_P(a_token_scope, refuses_a_good_token_without_the_claim) {
  serve("hmac_secret_file: " + secret_file());
  EXPECT_TRUE(is_problem(proxy->fetch(charge_with("k", hs256_token(secret, "{}"))), 400, "missing-scope"));
  EXPECT_EQ(backend.count(), 0u);
}

TEST_P(a_token_scope, takes_up_new_keys_when_their_file_changes) {
  const signing_key before("ES256", "1"), after("ES256", "2");
  serve("jwks_file: " + folder.write("jwks", jwks({&before})));
  EXPECT_TRUE(is_fresh(proxy->fetch(charge_with("k", after.token(claims("alice")))), 200));
  EXPECT_TRUE(is_fresh(proxy->fetch(charge_with("k", after.token(claims("alice")))), 200));
  folder.write("jwks", jwks({&before, &after}));
  EXPECT_TRUE(eventually(
      [&] { return proxy->fetch(charge_with("k", after.token(claims("alice")))).has("Idempotent-Replayed"); }, 10s));
}

TEST_P(a_token_scope, goes_on_with_the_keys_from_before_while_their_file_is_half_written) {
  const signing_key before("ES256", "1"), after("ES256", "2");
  const auto file = folder.write("jwks", jwks({&before}));
  serve("jwks_file: " + file);
  const auto replays = [&](const signing_key& key, const char* k) {
    const auto request = charge_with(k, key.token(claims("alice")));
    proxy->fetch(request);
    return proxy->fetch(request).has("Idempotent-Replayed");
  };
  const auto next = jwks({&after});
  folder.write("jwks", next.substr(0, next.size() / 2));
  EXPECT_TRUE(eventually([&] { return proxy->log().find("the one from before stays") != std::string::npos; }));
  EXPECT_NE(proxy->log().find(file), std::string::npos) << "the log names the file";
  EXPECT_TRUE(replays(before, "a"));
  std::ofstream(file, std::ios::app) << next.substr(next.size() / 2);
  EXPECT_TRUE(eventually([&] { return replays(after, "b"); }, 10s)) << "without a signal";
  EXPECT_FALSE(replays(before, "c"));
}

TEST_P(a_token_scope, gives_keys_as_well) {
  start("key: {from: [\"jwt:jti\"]}, scope: [\"jwt:sub\"], jwt: {hmac_secret_file: " + secret_file() + "}");
  const auto token = hs256_token(secret, claims("alice", 300, ",\"jti\":\"once\""));
  const auto first = proxy->fetch(charge_with("", token));
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(proxy->fetch(charge_with("", token)), first));
}

/// One request over TLS with a client's certificate, and everything that comes back.
std::string fetch_over_tls(std::uint16_t port, const certificates& client, const std::string& request) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (SSL_CTX_use_certificate_file(context.get(), client.certificate.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), client.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return "no certificate";
  }
  const std::unique_ptr<BIO, void (*)(BIO*)> stream(BIO_new_ssl_connect(context.get()), BIO_free_all);
  BIO_set_conn_hostname(stream.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  if (BIO_write(stream.get(), request.data(), static_cast<int>(request.size())) <= 0) return "not sent";
  std::string all;
  char piece[4096];
  for (int n = 0; (n = BIO_read(stream.get(), piece, sizeof piece)) > 0;)
    all.append(piece, static_cast<std::size_t>(n));
  return all;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class a_certificate_scope : public on_every_store {};
RUNS_ON_EVERY_STORE(a_certificate_scope);

TEST_P(a_certificate_scope, tells_clients_apart_by_the_subject_that_was_verified) {
  const temporary_folder folder;
  const auto server = make_certificates(folder, "localhost", "server"),
             alice = make_certificates(folder, "alice", "alice"), bob = make_certificates(folder, "bob", "bob"),
             stranger = make_certificates(folder, "alice", "stranger");
  const auto ca = folder.write("clients.pem", content_of(alice.ca) + content_of(bob.ca));
  proxy_settings s = settings("scope: [\"mtls:subject\"]");
  s.server_more = "tls: {certificate: " + server.certificate + ", key: " + server.key + ", client_ca: " + ca + "}";
  start(s);
  const auto request = charge("k").with("Connection", "close").bytes();
  const auto first = fetch_over_tls(proxy->port(), alice, request);
  EXPECT_TRUE(first.starts_with("HTTP/1.1 200")) << first;
  EXPECT_EQ(first.find("Idempotent-Replayed"), std::string::npos);
  EXPECT_NE(fetch_over_tls(proxy->port(), alice, request).find("Idempotent-Replayed: true"), std::string::npos);
  const auto other = fetch_over_tls(proxy->port(), bob, request);
  EXPECT_TRUE(other.starts_with("HTTP/1.1 200")) << other;
  EXPECT_EQ(other.find("Idempotent-Replayed"), std::string::npos);
  EXPECT_EQ(fetch_over_tls(proxy->port(), stranger, request).find("HTTP/1.1"), std::string::npos);
  EXPECT_EQ(backend.count("k"), 2u);
}

}  // namespace
}  // namespace idem::test
