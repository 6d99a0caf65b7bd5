#include "idem/idempotency/identity.hpp"

#include <gtest/gtest.h>

#include "request.hpp"

namespace idem::idempotency {
namespace {

using testing::request;
using testing::source;

constexpr std::string_view form_type = "application/x-www-form-urlencoded";

config::idempotency_config route(std::vector<std::string_view> alternatives, std::vector<std::string_view> scope = {}) {
  config::idempotency_config r;
  r.name_space = "charges";
  for (std::string_view alternative : alternatives) {
    auto& parts = r.key.from.emplace_back();
    while (!alternative.empty()) {
      const std::string_view part = alternative.substr(0, alternative.find(' '));
      alternative.remove_prefix(std::min(part.size() + 1, alternative.size()));
      parts.push_back(source(part));
    }
  }
  for (const std::string_view s : scope) r.scope.push_back(source(s));
  return r;
}

std::string name_of(const config::idempotency_config& r, const request& q) {
  const identity id = identify(r, "idem:", q.view());
  EXPECT_EQ(id.kind, identity_kind::keyed);
  return id.name;
}

identity_kind kind_of(const config::idempotency_config& r, const request& q) {
  return identify(r, "idem:", q.view()).kind;
}

problem_code refusal_of(const config::idempotency_config& r, const request& q) {
  const identity id = identify(r, "idem:", q.view());
  EXPECT_EQ(id.kind, identity_kind::refused);
  return id.refusal ? id.refusal->code : problem_code::busy;
}

const auto by_header = route({"header:Idempotency-Key"});

TEST(identity, a_header_key_names_the_record) {
  const auto id = identify(by_header, "idem:", request().header("idempotency-key", "\"abc\"").view());
  ASSERT_EQ(id.kind, identity_kind::keyed);
  EXPECT_EQ(id.name, record_name("idem:", "charges", {}, {{"header:Idempotency-Key", "abc"}}));
  EXPECT_FALSE(id.refusal);
}

TEST(identity, quoted_and_bare_keys_name_one_record) {
  EXPECT_EQ(name_of(by_header, request().header("Idempotency-Key", "abc")),
            name_of(by_header, request().header("IDEMPOTENCY-KEY", "\"abc\"")));
}

TEST(identity, without_a_key_the_request_passes_unless_one_is_required) {
  EXPECT_EQ(kind_of(by_header, request()), identity_kind::keyless);
  auto required = by_header;
  required.key.required = true;
  EXPECT_EQ(refusal_of(required, request()), problem_code::missing_key);
}

TEST(identity, a_malformed_key_is_refused_even_if_none_is_required) {
  const auto id = identify(by_header, "idem:", request().header("Idempotency-Key", "se cret").view());
  ASSERT_EQ(id.kind, identity_kind::refused);
  EXPECT_EQ(id.refusal->code, problem_code::malformed_key);
  EXPECT_EQ(id.refusal->detail.find("cret"), std::string::npos);
  EXPECT_EQ(refusal_of(by_header, request().header("Idempotency-Key", "a").header("idempotency-key", "a")),
            problem_code::malformed_key);
  EXPECT_EQ(refusal_of(by_header, request().header("Idempotency-Key", "")), problem_code::malformed_key);
}

TEST(identity, format_strictness_and_length_are_the_routes) {
  auto r = by_header;
  r.key.uuid = true;
  EXPECT_EQ(refusal_of(r, request().header("Idempotency-Key", "abc")), problem_code::malformed_key);
  r = by_header;
  r.key.strict = true;
  EXPECT_EQ(refusal_of(r, request().header("Idempotency-Key", "abc")), problem_code::malformed_key);
  r = by_header;
  r.key.max_length = 2;
  EXPECT_EQ(refusal_of(r, request().header("Idempotency-Key", "abc")), problem_code::malformed_key);
}

TEST(identity, the_first_alternative_that_hits_is_the_key) {
  const auto r = route({"header:A", "header:B"});
  EXPECT_EQ(name_of(r, request().header("A", "1").header("B", "2")), name_of(r, request().header("A", "1")));
  EXPECT_NE(name_of(r, request().header("A", "1")), name_of(r, request().header("B", "1")));
}

TEST(identity, a_concatenation_needs_all_of_its_parts) {
  const auto r = route({"header:A header:B", "header:C"});
  EXPECT_EQ(kind_of(r, request().header("A", "1")), identity_kind::keyless);
  EXPECT_EQ(name_of(r, request().header("A", "1").header("C", "3")), name_of(r, request().header("C", "3")));
  EXPECT_NE(name_of(r, request().header("A", "1").header("B", "23")),
            name_of(r, request().header("A", "12").header("B", "3")));
}

TEST(identity, observing_takes_names_of_its_own) {
  auto r = by_header;
  r.mode = config::route_mode::observe;
  const auto name = name_of(r, request().header("Idempotency-Key", "abc"));
  EXPECT_TRUE(name.starts_with("idem:o:{"));
  EXPECT_EQ(name.substr(7), name_of(by_header, request().header("Idempotency-Key", "abc")).substr(5));
}

TEST(identity_before_the_body, waits_only_where_the_body_decides) {
  const auto r = route({"json:/id", "header:A"});
  EXPECT_EQ(kind_of(r, request().header("A", "1")), identity_kind::need_body);
  EXPECT_EQ(kind_of(r, request()), identity_kind::need_body);
  EXPECT_EQ(kind_of(route({"header:A", "json:/id"}), request().header("A", "1")), identity_kind::keyed);
  EXPECT_EQ(kind_of(route({"header:A", "json:/id"}), request()), identity_kind::need_body);
  EXPECT_EQ(kind_of(route({"json:/id header:A"}), request()), identity_kind::keyless);
  EXPECT_EQ(kind_of(route({"form:id"}), request().header("Content-Type", "text/plain")), identity_kind::keyless);
  EXPECT_EQ(kind_of(route({"form:id"}), request().header("Content-Type", form_type)), identity_kind::need_body);
  EXPECT_EQ(kind_of(route({"xml:/a"}), request()), identity_kind::need_body);
  EXPECT_EQ(kind_of(route({"fingerprint"}), request()), identity_kind::need_body);
}

TEST(identity_before_the_body, a_fingerprint_without_the_body_needs_none) {
  auto r = route({"fingerprint"});
  r.fingerprint.body = config::body_mode::none;
  EXPECT_EQ(name_of(r, request()), name_of(r, request().body("anything")));
}

TEST(identity_before_the_body, refuses_what_the_head_alone_refuses) {
  EXPECT_EQ(refusal_of(route({"json:/id header:A"}), request().header("A", "a b")), problem_code::malformed_key);
  auto required = route({"json:/id"}, {"credential"});
  EXPECT_EQ(kind_of(required, request().header("Cookie", "s=1")), identity_kind::need_body);
  required.key.required = true;
  EXPECT_EQ(refusal_of(required, request().header("Cookie", "s=1")), problem_code::missing_scope);
  EXPECT_EQ(refusal_of(route({"json:/id", "fingerprint"}, {"credential"}), request().header("Cookie", "s=1")),
            problem_code::missing_scope);
}

TEST(identity_before_the_body, whatever_the_head_decides_stays_when_the_body_comes) {
  auto r = route({"header:A", "json:/id header:B", "header:C"}, {"credential"});
  for (const bool required : {false, true}) {
    r.key.required = required;
    for (int which = 0; which < 81; ++which) {
      request q;
      const auto add = [&](std::string_view name, int what) {
        if (what != 0) q.header(name, what == 1 ? "1" : "a b");
      };
      add("A", which % 3);
      add("B", which / 3 % 3);
      add("C", which / 9 % 3);
      if (which / 27 == 1) q.header("Cookie", "s=1");
      if (which / 27 == 2) q.header("Authorization", "Bearer t");
      const identity early = identify(r, "idem:", q.view());
      for (const std::string_view body : {R"({"id":"1"})", R"({})", R"({"id":1,"id":2})", "no json"}) {
        const identity late = identify(r, "idem:", q.body(body).view());
        ASSERT_NE(late.kind, identity_kind::need_body);
        if (early.kind == identity_kind::need_body) continue;
        EXPECT_EQ(late.kind, early.kind);
        EXPECT_EQ(late.name, early.name);
        if (late.refusal && early.refusal) EXPECT_EQ(late.refusal->code, early.refusal->code);
      }
    }
  }
}

}  // namespace
}  // namespace idem::idempotency
