#include "config/source.hpp"

#include <gtest/gtest.h>

#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using kind = source::kind;
using test::reports;
using test::with_block;
using test::with_routes;

TEST(key_source, every_kind_is_read) {
  const std::tuple<const char*, kind, const char*> cases[] = {
      {"header:Idempotency-Key", kind::header, "Idempotency-Key"},
      {"query:id", kind::query, "id"},
      {"path:{account}", kind::path, "account"},
      {"json:/a~1b/0", kind::json, "/a~1b/0"},
      {"form:notify_id", kind::form, "notify_id"},
      {"xml:/xml/mch_id", kind::xml, "/xml/mch_id"},
      {"jwt:sub", kind::jwt, "sub"},
      {"fingerprint", kind::fingerprint, ""},
      {"query:a:b", kind::query, "a:b"}};
  for (const auto& [text, type, name] : cases) {
    const auto read = parse_source(text, source_use::key);
    ASSERT_TRUE(read) << text << read.why;
    EXPECT_EQ(read->type, type) << text;
    EXPECT_EQ(read->name, name) << text;
    EXPECT_EQ(read->text, text);
  }
}

TEST(scope_source, every_kind_is_read) {
  const std::tuple<const char*, kind, const char*> cases[] = {
      {"credential", kind::credential, ""},   {"header:X-Tenant", kind::header, "X-Tenant"},
      {"cookie:sid", kind::cookie, "sid"},    {"path:{a}", kind::path, "a"},
      {"const:all", kind::constant, "all"},   {"jwt:sub", kind::jwt, "sub"},
      {"mtls:subject", kind::mtls, "subject"}};
  for (const auto& [text, type, name] : cases) {
    const auto read = parse_source(text, source_use::scope);
    ASSERT_TRUE(read) << text << read.why;
    EXPECT_EQ(read->type, type) << text;
    EXPECT_EQ(read->name, name) << text;
  }
}

TEST(key_source, what_is_none_is_refused_with_its_reason) {
  const std::pair<const char*, const char*> cases[] = {{"Idempotency-Key", "is no source"},
                                                       {"heder:X", "did you mean \"header\""},
                                                       {"header", "has no name"},
                                                       {"header:", "no valid name"},
                                                       {"header:X Y", "no valid name"},
                                                       {"header:X:", "no valid name"},
                                                       {"path:account", "name in braces"},
                                                       {"path:{}", "name in braces"},
                                                       {"path:{a b}", "no valid name in its braces"},
                                                       {"json:id", "JSON pointer"},
                                                       {"json:", "JSON pointer"},
                                                       {"json:/a~2", "JSON pointer"},
                                                       {"json:/a~", "JSON pointer"},
                                                       {"json:/items/*/id", "a *"},
                                                       {"xml:a", "path of elements"},
                                                       {"xml:/", "path of elements"},
                                                       {"xml:/a//b", "path of elements"},
                                                       {"xml:/a/", "path of elements"},
                                                       {"xml:/a/@b", "path of elements"},
                                                       {"fingerprint:x", "takes no name"},
                                                       {"query:", "no valid name"},
                                                       {"form:", "no valid name"},
                                                       {"credential", "source of scopes"},
                                                       {"cookie:a", "source of scopes"},
                                                       {"const:a", "source of scopes"},
                                                       {"mtls:subject", "source of scopes"},
                                                       {"", "is no source"}};
  for (const auto& [text, why] : cases) {
    const auto read = parse_source(text, source_use::key);
    EXPECT_FALSE(read) << text;
    EXPECT_NE(read.why.find(why), std::string::npos) << text << ": " << read.why;
  }
}

TEST(scope_source, what_is_none_is_refused_with_its_reason) {
  const std::pair<const char*, const char*> cases[] = {
      {"json:/a", "source of keys"},   {"query:a", "source of keys"},     {"fingerprint", "source of keys"},
      {"credentials", "did you mean"}, {"const", "has no name"},          {"const:", "no valid name"},
      {"mtls:issuer", "mtls:subject"}, {"credential:x", "takes no name"}, {"cookie:a=b", "no valid name"}};
  for (const auto& [text, why] : cases) {
    const auto read = parse_source(text, source_use::scope);
    EXPECT_FALSE(read) << text;
    EXPECT_NE(read.why.find(why), std::string::npos) << text << ": " << read.why;
  }
}

TEST(keys_of_a_route, alternatives_and_joined_parts_are_read_in_order) {
  const auto result = test::loaded(with_block("key: {from: [\"header:A\", [\"form:b\", \"form:c\"], fingerprint]}"));
  const auto& from = result.config->routes[0].idempotency.key.from;
  ASSERT_EQ(from.size(), 3u);
  EXPECT_EQ(from[0].size(), 1u);
  ASSERT_EQ(from[1].size(), 2u);
  EXPECT_EQ(from[1][1].text, "form:c");
  EXPECT_EQ(from[2][0].type, kind::fingerprint);
}

TEST(keys_of_a_route, the_default_is_the_idempotency_key_header_and_the_credential) {
  const auto result = test::loaded(with_block("mode: enforce"));
  const auto& route = result.config->routes[0].idempotency;
  ASSERT_EQ(route.key.from.size(), 1u);
  EXPECT_EQ(route.key.from[0].at(0).text, "header:Idempotency-Key");
  ASSERT_EQ(route.scope.size(), 1u);
  EXPECT_EQ(route.scope[0].type, kind::credential);
}

TEST(keys_of_a_route, a_faulty_source_is_an_error_at_its_place) {
  const std::string at = "f:7:19: error: routes[0].idempotency.key.from";
  EXPECT_TRUE(reports(with_block("key: {from: [\"header:A\", b]}"),
                      "f:7:32: error: routes[0].idempotency.key.from[1]: \"b\" is no source"));
  EXPECT_TRUE(reports(with_block("key: {from: [[\"header:A\", b]]}"),
                      "f:7:33: error: routes[0].idempotency.key.from[0][1]: \"b\" is no source"));
  EXPECT_TRUE(reports(with_block("key: {from: []}"), at + ": is empty"));
  EXPECT_TRUE(reports(with_block("key: {from: [[]]}"), "f:7:20: error: routes[0].idempotency.key.from[0]: is empty"));
  EXPECT_TRUE(reports(with_block("key: {from: [{}]}"), "f:7:20: error: routes[0].idempotency.key.from[0]: is a map"));
  EXPECT_TRUE(reports(with_block("key: {from: header:A}"), at + ": is a single value, expected a list"));
}

TEST(keys_of_a_route, a_source_that_is_never_asked_is_an_error) {
  EXPECT_TRUE(reports(with_block("key: {from: [\"header:A\", \"header:A\"]}"),
                      "f:7:32: error: routes[0].idempotency.key.from[1]: stands twice"));
  EXPECT_TRUE(reports(with_block("key: {from: [\"header:A\", \"header:a\"]}"),
                      "f:7:32: error: routes[0].idempotency.key.from[1]: stands twice"));
  EXPECT_TRUE(reports(with_block("key: {from: [[\"header:A\", \"header:a\"]]}"),
                      "f:7:33: error: routes[0].idempotency.key.from[0][1]: \"header:a\" stands twice"));
  EXPECT_TRUE(test::is_clean(with_block("key: {from: [\"form:A\", \"form:a\", \"header:A\", \"query:A\"]}")));
  EXPECT_TRUE(reports(with_block("key: {from: [fingerprint, \"header:A\"]}"),
                      "f:7:33: error: routes[0].idempotency.key.from[1]: is never used"));
}

TEST(keys_of_a_route, a_uuid_needs_36_bytes) {
  EXPECT_TRUE(reports(with_block("key: {format: uuid, max_length: 35}"),
                      "f:7:39: error: routes[0].idempotency.key.max_length: no UUID is that short"));
  EXPECT_TRUE(test::loaded(with_block("key: {format: uuid, max_length: 36}")).config->routes[0].idempotency.key.uuid);
}

TEST(claims, need_something_that_tokens_are_verified_with) {
  for (const char* block : {"key: {from: [\"jwt:jti\"]}", "scope: [\"jwt:sub\"]"}) {
    EXPECT_TRUE(reports(with_block(block), "f:", "expected jwks_file or hmac_secret_file")) << block;
  }
}

TEST(claims, have_both_of_their_files_checked_although_one_is_expected) {
  const std::string text = with_block("jwt: {jwks_file: /no/a, hmac_secret_file: /no/b}");
  EXPECT_TRUE(reports(text, "f:7:24: error: routes[0].idempotency.jwt.jwks_file: ", "cannot be read"));
  EXPECT_TRUE(reports(text, "f:7:49: error: routes[0].idempotency.jwt.hmac_secret_file: stands beside"));
  EXPECT_TRUE(reports(text, "f:7:49: error: routes[0].idempotency.jwt.hmac_secret_file: \"/no/b\" cannot be read"));
}

TEST(scope_of_a_route, mtls_needs_client_certificates) {
  EXPECT_TRUE(reports(with_block("scope: [\"mtls:subject\"]"),
                      "f:7:14: error: routes[0].idempotency.scope: mtls: needs clients with certificates"));
}

TEST(scope_of_a_route, a_part_that_stands_twice_is_an_error) {
  EXPECT_TRUE(reports(with_block("scope: [credential, credential]"),
                      "f:7:27: error: routes[0].idempotency.scope[1]: \"credential\" stands twice"));
  EXPECT_TRUE(reports(with_block("scope: [credential, \"header:A\", \"header:a\"]"),
                      "f:7:39: error: routes[0].idempotency.scope[2]: \"header:a\" stands twice"));
  EXPECT_TRUE(test::is_clean(with_block("scope: [credential, \"cookie:A\", \"cookie:a\"]")));
}

TEST(names_in_paths, must_stand_in_the_routes_template) {
  const auto route = [](const char* path, const char* block) {
    return with_routes("routes:\n  - name: a\n    match: {path: \"" + std::string(path) +
                       "\"}\n    idempotency: " + block + "\n");
  };
  EXPECT_TRUE(test::is_clean(route("/a/{id}", "{scope: [credential, \"path:{id}\"], key: {from: [\"path:{id}\"]}}")));
  EXPECT_TRUE(
      reports(route("/a/{id}", "{scope: [credential, \"path:{di}\"]}"),
              "f:6:39: error: routes[0].idempotency.scope[1]: \"path:{di}\" names nothing in the path of route \"a\""));
  EXPECT_TRUE(reports(route("/a", "{key: {from: [\"header:X\", [\"header:Y\", \"path:{id}\"]]}}"),
                      "f:6:57: error: routes[0].idempotency.key.from[1][1]: \"path:{id}\" names nothing"));
}

TEST(names_in_paths, of_the_defaults_must_stand_in_every_routes_template) {
  EXPECT_TRUE(reports(with_routes("defaults: {scope: [credential, \"path:{id}\"]}\nroutes:\n  - {name: a, match: "
                                  "{path: \"/a/{id}\"}}\n  - {name: b, match: {path: /b}}\n"),
                      "f:3:32: error: defaults.scope[1]: \"path:{id}\" names nothing in the path of route \"b\""));
}

}  // namespace
}  // namespace idem::config
