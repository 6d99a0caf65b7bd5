// Certificates and keys, made by the test itself.
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "support/temporary_folder.hpp"
#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using test::reports;

struct pem {
  std::string certificate, key, encrypted_key;
};

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

/// A self-signed certificate that is valid from `from` to `until` seconds from now.
pem make_pem(long from = -3600, long until = 3600, EVP_PKEY* key = EVP_EC_gen("P-256")) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), from);
  X509_gmtime_adj(X509_getm_notAfter(certificate), until);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(out, certificate);
  BIO* key_out = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_out, key, nullptr, nullptr, 0, nullptr, nullptr);
  BIO* encrypted = BIO_new(BIO_s_mem());
  char pass[] = "pass";
  PEM_write_bio_PrivateKey(encrypted, key, EVP_aes_128_cbc(), nullptr, 0, nullptr, pass);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return {text_of(out), text_of(key_out), text_of(encrypted)};
}

class tls_files : public testing::Test {
 protected:
  static std::string server(const std::string& crt, const std::string& pem_key, const std::string& more = "") {
    return "upstream: {url: \"http://127.0.0.1:3000\"}\nserver:\n  tls:\n    certificate: " + crt +
           "\n    key: " + pem_key + "\n" + more;
  }

  const idem::test::temporary_folder folder;
  const pem own = make_pem();
  const pem other = make_pem();
  const std::string certificate = folder.write("tls.crt", own.certificate);
  const std::string key = folder.write("tls.key", own.key);
};

TEST_F(tls_files, a_matching_pair_is_accepted) {
  const auto result = test::loaded(server(certificate, key, "    client_ca: " + certificate + "\n"));
  EXPECT_TRUE(result.config->server.tls.enabled());
  EXPECT_EQ(result.config->server.tls.client_ca, certificate);
}

TEST_F(tls_files, a_key_of_another_certificate_is_an_error) {
  EXPECT_TRUE(reports(server(certificate, folder.write("b.key", other.key)),
                      "f:5:10: error: server.tls.key: ", "does not belong to the certificate"));
}

TEST_F(tls_files, missing_and_wrong_files_are_errors_at_their_keys) {
  EXPECT_TRUE(reports(server("/nowhere/tls.crt", key),
                      "f:4:18: error: server.tls.certificate: \"/nowhere/tls.crt\" cannot be read"));
  EXPECT_TRUE(reports(server(certificate, "/nowhere/tls.key"),
                      "f:5:10: error: server.tls.key: \"/nowhere/tls.key\" cannot be read"));
  EXPECT_TRUE(reports(server(key, key), "f:4:18: error: server.tls.certificate: ", "holds no certificate"));
  EXPECT_TRUE(reports(server(certificate, certificate), "f:5:10: error: server.tls.key: ", "holds no private key"));
  EXPECT_TRUE(reports(server(certificate, key, "    client_ca: /nowhere\n"), "f:6:16: error: server.tls.client_ca: "));
  EXPECT_TRUE(reports(server(certificate, key, "    client_ca: " + key + "\n"),
                      "f:6:16: error: server.tls.client_ca: ", "holds no certificate"));
}

TEST_F(tls_files, a_certificate_that_openssl_would_refuse_to_serve_is_an_error) {
  const auto weak = make_pem(-3600, 3600, EVP_RSA_gen(1024));
  EXPECT_TRUE(reports(server(folder.write("weak.crt", weak.certificate), folder.write("weak.key", weak.key)),
                      "f:4:18: error: server.tls.certificate: ", "is refused by OpenSSL: ee key too small"));
}

TEST_F(tls_files, an_encrypted_key_is_an_error_and_asks_nobody) {
  EXPECT_TRUE(reports(server(certificate, folder.write("enc.key", own.encrypted_key)),
                      "f:5:10: error: server.tls.key: ", "is encrypted"));
}

TEST_F(tls_files, a_certificate_without_a_key_and_the_reverse_are_errors) {
  EXPECT_TRUE(reports(server(certificate, "\"\""), "f:5:10: error: server.tls.key: is missing"));
  EXPECT_TRUE(reports(server("\"\"", key), "f:4:18: error: server.tls.certificate: is missing"));
  EXPECT_TRUE(reports(server("\"\"", "\"\"", "    client_ca: " + certificate + "\n"),
                      "f:4:18: error: server.tls.certificate: is missing"));
}

TEST_F(tls_files, of_a_pair_that_is_not_whole_are_checked_as_well) {
  const std::string no_key = server("/nowhere/tls.crt", "\"\"");
  EXPECT_TRUE(reports(no_key, "f:4:18: error: server.tls.certificate: ", "cannot be read"));
  EXPECT_TRUE(reports(no_key, "f:5:10: error: server.tls.key: is missing"));
  const std::string no_certificate = server("\"\"", "/nowhere/tls.key");
  EXPECT_TRUE(reports(no_certificate, "f:4:18: error: server.tls.certificate: is missing"));
  EXPECT_TRUE(reports(no_certificate, "f:5:10: error: server.tls.key: ", "cannot be read"));
}

TEST_F(tls_files, are_checked_although_the_url_makes_no_use_of_them) {
  const std::string upstream =
      "upstream:\n  url: http://127.0.0.1:3000\n  tls: {ca: /no/ca, certificate: /no/crt, key: /no/key}\n";
  EXPECT_TRUE(reports(upstream, "f:3:8: error: upstream.tls: has no effect"));
  EXPECT_TRUE(reports(upstream, "f:3:13: error: upstream.tls.ca: ", "cannot be read"));
  EXPECT_TRUE(reports(upstream, "f:3:34: error: upstream.tls.certificate: ", "cannot be read"));
  EXPECT_TRUE(reports(upstream, "f:3:48: error: upstream.tls.key: ", "cannot be read"));
  const std::string redis =
      "upstream: {url: \"http://127.0.0.1:3000\"}\nstore: {type: redis, redis: {tls: {ca: /no/ca}}}\n";
  EXPECT_TRUE(reports(redis, "f:2:35: error: store.redis.tls: has no effect"));
  EXPECT_TRUE(reports(redis, "f:2:40: error: store.redis.tls.ca: ", "cannot be read"));
}

TEST_F(tls_files, one_that_is_out_of_its_time_is_a_warning) {
  const pem old = make_pem(-7200, -3600), early = make_pem(3600, 7200);
  EXPECT_TRUE(reports(server(folder.write("o.crt", old.certificate), folder.write("o.key", old.key)),
                      "f:4:18: warning: server.tls.certificate: ", "has expired"));
  EXPECT_TRUE(reports(server(folder.write("e.crt", early.certificate), folder.write("e.key", early.key)),
                      "f:4:18: warning: server.tls.certificate: ", "not valid yet"));
}

TEST_F(tls_files, of_the_upstream_are_checked_in_the_same_way) {
  const auto upstream = [](const std::string& tls) {
    return "upstream:\n  url: https://127.0.0.1:3000\n  tls: {" + tls + "}\n";
  };
  EXPECT_TRUE(load_text(upstream("ca: " + certificate + ", certificate: " + certificate + ", key: " + key), "f").ok());
  EXPECT_TRUE(reports(upstream("ca: /nowhere"), "f:3:13: error: upstream.tls.ca: \"/nowhere\" cannot be read"));
  EXPECT_TRUE(reports(upstream("certificate: " + certificate), "f:3:8: error: upstream.tls.key: is missing"));
  EXPECT_TRUE(reports(upstream("key: " + key), "f:3:8: error: upstream.tls.certificate: is missing"));
  EXPECT_TRUE(reports(upstream("certificate: " + certificate + ", key: " + folder.write("b.key", other.key)),
                      "f:3:", "does not belong"));
}

TEST_F(tls_files, that_end_amid_a_certificate_are_errors) {
  const auto cut = [](const pem& p) { return p.certificate.substr(0, p.certificate.size() / 2); };
  const std::string chain = folder.write("chain.crt", own.certificate + cut(other));
  EXPECT_TRUE(reports(server(folder.write("half.crt", cut(own)), key), "f:4:18: error: server.tls.certificate: "));
  EXPECT_TRUE(
      reports(server(chain, key), "f:4:18: error: server.tls.certificate: ", "chain.crt\" is refused by OpenSSL"));
  EXPECT_TRUE(reports(server(certificate, key, "    client_ca: " + chain + "\n"),
                      "f:6:16: error: server.tls.client_ca: ", "chain.crt\" is refused by OpenSSL"));
  EXPECT_TRUE(reports(server(certificate, folder.write("half.key", own.key.substr(0, own.key.size() / 2))),
                      "f:5:10: error: server.tls.key: ", "holds no private key"));
}

TEST_F(tls_files, of_redis_are_checked_in_the_same_way) {
  const auto store = [](const std::string& ca) {
    return "upstream: {url: \"http://127.0.0.1:3000\"}\nstore:\n  type: redis\n  redis:\n    url: rediss://h\n    tls: "
           "{ca: " +
           ca + "}\n";
  };
  EXPECT_TRUE(load_text(store(certificate), "f").ok());
  EXPECT_TRUE(reports(store("/nowhere"), "f:6:15: error: store.redis.tls.ca: \"/nowhere\" cannot be read"));
}

}  // namespace
}  // namespace idem::config
