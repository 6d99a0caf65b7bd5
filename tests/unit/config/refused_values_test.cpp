// A value that was refused is one fault: nothing is said of the default that stands in its place.
#include <gtest/gtest.h>

#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using test::lines_of;
using test::with_block;
using test::with_routes;

const std::string upstream = "upstream: {url: \"http://127.0.0.1:3000\"}\n";
const std::string redis = "store: {type: redis}\n";
const std::string route = "routes: [{name: a, match: {path: /a}}]\n";

/// The only finding of `text` is an error at `path`.
testing::AssertionResult is_one_fault(const std::string& text, const std::string& path) {
  const auto found = load_text(text, "f").findings;
  if (found.size() != 1 || found[0].level != finding::severity::error || found[0].key_path != path) {
    return testing::AssertionFailure() << text << testing::PrintToString(lines_of(load_text(text, "f")));
  }
  return testing::AssertionSuccess();
}

TEST(a_refused_value, of_the_store_is_not_taken_for_the_default) {
  EXPECT_TRUE(is_one_fault(upstream + "store: {type: sqlite}\n" + route, "store.type"));
  EXPECT_TRUE(is_one_fault(upstream + "store: redis\n" + route, "store"));
  EXPECT_TRUE(is_one_fault(upstream + "stor: {type: redis}\n" + route, "stor"));
  EXPECT_TRUE(is_one_fault(upstream + "store: {type: redis, redis: {command_timeout: 100}}\n" +
                               "routes: [{name: a, match: {path: /a}, idempotency: {lease: 600ms}}]\n",
                           "store.redis.command_timeout"));
  EXPECT_TRUE(is_one_fault(
      upstream + "store: {type: redis, redis: {url: \"http://h\", username: u, tls: {server_name: h}}}\n" + route,
      "store.redis.url"));
  EXPECT_TRUE(is_one_fault(upstream + "store: {type: redis, redis: {username: u, password_file: []}}\n" + route,
                           "store.redis.password_file"));
}

TEST(a_refused_value, of_the_routes_leaves_no_file_without_routes) {
  EXPECT_TRUE(is_one_fault(with_routes("routes: {}\n"), "routes"));
  EXPECT_TRUE(is_one_fault(with_routes("routes: [a]\n"), "routes[0]"));
  EXPECT_TRUE(is_one_fault(with_routes("route: [{name: a}]\n"), "route"));
  EXPECT_TRUE(is_one_fault(with_routes("routes: [{nam: a}]\n"), "routes[0].nam"));
}

TEST(a_refused_value, of_addresses_is_not_compared) {
  EXPECT_TRUE(is_one_fault("upstream: x\n" + redis + route, "upstream"));
  EXPECT_TRUE(is_one_fault("upstream: {ulr: \"http://127.0.0.1:3000\"}\n" + redis + route, "upstream.ulr"));
  const std::string own = "upstream: {url: \"http://127.0.0.1:9911\"}\n" + redis + route;
  EXPECT_TRUE(is_one_fault("admin: {listen: \"9912\"}\n" + own, "admin.listen"));
  EXPECT_TRUE(is_one_fault("admin: {listen: 1}\nserver: {listen: [\"127.0.0.1:9911\"]}\n" + upstream + redis + route,
                           "admin.listen"));
  const std::string first = "upstream: {url: \"http://127.0.0.1:8080\"}\n" + redis + route;
  EXPECT_TRUE(is_one_fault("server: 1\n" + first, "server"));
  EXPECT_TRUE(is_one_fault("server: {listen: \"127.0.0.1:1\"}\n" + first, "server.listen"));
}

TEST(a_refused_value, of_tls_is_not_taken_for_a_missing_one) {
  EXPECT_TRUE(is_one_fault("server: {tls: {certificate: []}}\n" + upstream + redis + route, "server.tls.certificate"));
  EXPECT_TRUE(
      is_one_fault("upstream: {url: \"https://127.0.0.1:1\", tls: {key: []}}\n" + redis + route, "upstream.tls.key"));
  EXPECT_TRUE(is_one_fault("server: {tls: {client_ca: []}}\n" + upstream + redis +
                               "routes: [{name: a, idempotency: {scope: [\"mtls:subject\"]}}]\n",
                           "server.tls.client_ca"));
}

TEST(a_refused_value, of_a_block_is_not_compared_with_those_beside_it) {
  const std::pair<const char*, const char*> all[] = {
      {"lease: 10ms, retention: 1s", "lease"},
      {"leese: 1s, retention: 1s", "leese"},
      {"retention: 1, hold: 1h", "retention"},
      {"hold: 14", "hold"},
      {"max_processing: 1}, response_timeout: 11m, match: {path: /b", "max_processing"},
      {"in_flight: {respond: wiat, wait: 5s}", "in_flight.respond"},
      {"in_flight: {respond: wait, wait: 5}", "in_flight.wait"},
      {"scope: [\"const:\"]", "scope[0]"},
      {"scope: [], mode: of", "mode"},
      {"scope: [], signature: {scheme: strpe, secret_file: /dev/null}", "signature.scheme"},
      {"signature: {scheme: stripe, secret_file: []}", "signature.secret_file"},
      {"key: {from: [\"jwt:jti\"]}, jwt: {jwks_file: []}", "jwt.jwks_file"},
      {"key: {format: uuid, max_length: x}", "key.max_length"},
      {"preset: stirpe, signature: {secret_file: /dev/null}", "preset"},
      {"fingerprint: {body: fom, exclude: [\"/~\"]}", "fingerprint.body"},
  };
  for (const auto& [block, key] : all) {
    EXPECT_TRUE(is_one_fault(with_routes("routes: [{name: a, idempotency: {" + std::string(block) + "}}]\n"),
                             "routes[0].idempotency." + std::string(key)));
  }
}

TEST(a_refused_value, beside_a_block_is_not_compared_with_what_stands_in_it) {
  const auto file = [](const std::string& text) { return with_routes("routes: [{name: a, " + text + "}]\n"); };
  EXPECT_TRUE(
      is_one_fault(file("response_timeout: 1, idempotency: {max_processing: 10s}"), "routes[0].response_timeout"));
  EXPECT_TRUE(
      is_one_fault(file("match: {path: x}, idempotency: {key: {from: [\"path:{x}\"]}}"), "routes[0].match.path"));
  EXPECT_TRUE(is_one_fault(file("match: {methods: [delete]}, idempotency: {absent_is_success: always}"),
                           "routes[0].match.methods[0]"));
  EXPECT_TRUE(is_one_fault(file("match: {methods: [DELETE]}, idempotency: {absent_is_success: on, guarantee: least}"),
                           "routes[0].idempotency.guarantee"));
  EXPECT_TRUE(is_one_fault(
      "server: {timeouts: {keep_alive: 80}}\n" + file("idempotency: {in_flight: {respond: wait, wait: 76s}}"),
      "server.timeouts.keep_alive"));
}

TEST(a_refused_value, is_refused_once) {
  EXPECT_TRUE(is_one_fault(with_block("hold: 14s"), "routes[0].idempotency.hold"));
}

TEST(a_refused_value, of_the_defaults_counts_until_a_route_has_its_own) {
  const auto file = [](const std::string& own) {
    return with_routes("routes: [{name: a, match: {path: /a}, idempotency: {retention: 1s" + own +
                       "}}]\ndefaults: {lease: 1}\n");
  };
  EXPECT_TRUE(is_one_fault(file(""), "defaults.lease"));
  EXPECT_EQ(load_text(file(", lease: 2s"), "f").findings.size(), 2u) << "which is longer than the retention beside it";
}

TEST(a_refused_value, of_one_route_says_nothing_of_the_others) {
  const auto lines =
      lines_of(load_text(with_routes("routes:\n  - {name: a, match: {path: /a}, idempotency: {lease: 1}}\n"
                                     "  - {name: b, match: {path: /b}, idempotency: {retention: 1s}}\n"),
                         "f"));
  ASSERT_EQ(lines.size(), 2u) << testing::PrintToString(lines);
  EXPECT_TRUE(lines[1].starts_with("f:5:")) << lines[1];
}

TEST(a_refused_value, of_the_503_is_not_taken_for_none) {
  const std::string remote = "upstream: {url: \"http://app:3000\"}\n" + redis;
  const auto with = [&](const std::string& block) {
    return remote + "routes: [{name: a, match: {path: /a}, idempotency: {" + block + "}}]\n";
  };
  EXPECT_TRUE(is_one_fault(with("statuses: {unknown: 503}"), "routes[0].idempotency.statuses.unknown"));
  EXPECT_TRUE(is_one_fault(with("guarantee: least"), "routes[0].idempotency.guarantee"));
}

}  // namespace
}  // namespace idem::config
