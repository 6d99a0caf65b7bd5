#include "idem/idempotency/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>

#include "request.hpp"

namespace idem::idempotency {
namespace {

using config::body_mode;
using testing::request;

std::string hex(const fingerprint& f) {
  std::string out;
  for (const unsigned char c : f.digest) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

std::string print(const request& q, const config::fingerprint_config& settings = {}) {
  return hex(compute_fingerprint(settings, q.view()));
}

request typed(std::string_view type, std::string_view body) {
  return request().header("Content-Type", type).body(body);
}
request json(std::string_view body) { return typed("application/json", body); }
request form(std::string_view body) { return typed("application/x-www-form-urlencoded", body); }

config::fingerprint_config with_mode(body_mode mode) {
  config::fingerprint_config c;
  c.body = mode;
  return c;
}

// What records of running systems hold: another digest for the same request makes every retry a 422. A change needs a
// new fingerprint_version.
TEST(fingerprint, has_the_agreed_digests) {
  EXPECT_EQ(print(json("{ \"b\":[1.0,true,null], \"a\":\"\\u00e9\\u0001\" }").query("b=2&a=1")),
            "55f99438f667ffe81a22efe891c3c09641346d4456944a3026175c1f064c13f5");
  EXPECT_EQ(print(form("b&b=2&a=1+2&b=1")), "ee6ce48b603792acbc4cec8dba64174094c88a5e8a45ab70d012fa1bc3fc0678");
  EXPECT_EQ(print(typed("multipart/form-data; boundary=x",
                        "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--")),
            "4bb16873bb1e06c16fd998f600be023cd4bda6855eea983bfb42e0c3154f2a2c");
}

TEST(fingerprint, carries_its_version_and_the_hash_of_its_settings) {
  const fingerprint f = compute_fingerprint({}, json("{}").view());
  EXPECT_EQ(f.version, fingerprint_version);
  EXPECT_EQ(f.settings, settings_hash({}));
  EXPECT_EQ(f.settings, 0x650a86b7u);
}

TEST(fingerprint, covers_method_authority_path_query_headers_and_body) {
  const std::set<std::string> prints = {
      print(json("{}")),
      print(json("{}").method("PUT")),
      print(json("{}").authority("other.example.com")),
      print(json("{}").path("/v1/refunds")),
      print(json("{}").path("/V1/charges")),
      print(json("{}").query("")),
      print(json("{}").query("a=1")),
      print(json("{}").query("a=2")),
      print(json("{}").query("a=1&a=1")),
      print(json("[]")),
      print(request().body("{}")),
      print(typed("", "{}")),
      print(typed("application/json; charset=utf-8", "{}")),
      print(json("{}").header("Content-Type", "application/json")),
  };
  EXPECT_EQ(prints.size(), 14u);
}

TEST(fingerprint, the_case_of_the_authority_does_not_count) {
  EXPECT_EQ(print(json("{}")), print(json("{}").authority("API.example.COM")));
}

TEST(fingerprint, the_port_by_which_a_client_came_does_not_count) {
  EXPECT_EQ(print(json("{}")), print(json("{}").authority("api.example.com:8443")));
  EXPECT_EQ(print(json("{}").authority("[::1]")), print(json("{}").authority("[::1]:8080")));
  EXPECT_NE(print(json("{}").authority("[::1]")), print(json("{}").authority("[::2]")));
}

TEST(fingerprint, a_dot_at_the_end_of_the_host_does_not_count) {
  EXPECT_EQ(print(json("{}")), print(json("{}").authority("api.example.com.")));
  EXPECT_EQ(print(json("{}")), print(json("{}").authority("api.example.com.:8443")));
  EXPECT_NE(print(json("{}")), print(json("{}").authority("api.example.com..")));
}

TEST(fingerprint, the_order_of_query_pairs_counts_for_equal_names_only_and_their_bytes_do) {
  EXPECT_EQ(print(json("{}").query("a=1&b=2&a=0")), print(json("{}").query("b=2&a=1&a=0")));
  EXPECT_NE(print(json("{}").query("a=1&b=2&a=0")), print(json("{}").query("a=0&a=1&b=2")));
  EXPECT_NE(print(json("{}").query("a&a=")), print(json("{}").query("a=&a")));
  EXPECT_NE(print(json("{}").query("a=%41")), print(json("{}").query("a=A")));
}

TEST(fingerprint, without_query_it_does_not_count) {
  config::fingerprint_config c;
  c.query = false;
  EXPECT_EQ(print(json("{}").query("a=1"), c), print(json("{}"), c));
}

TEST(fingerprint, only_listed_headers_count_and_absent_is_not_empty) {
  config::fingerprint_config c;
  c.headers = {"X-Version", "x-tenant"};
  const std::string bare = print(request().body(""), c);
  EXPECT_EQ(bare, print(request().header("Content-Type", "text/plain").body(""), c));
  EXPECT_NE(bare, print(request().header("X-Tenant", "").body(""), c));
  EXPECT_NE(print(request().header("X-Tenant", "").body(""), c), print(request().header("X-Tenant", "a").body(""), c));
  EXPECT_NE(print(request().header("X-Tenant", "a").header("x-tenant", "b").body(""), c),
            print(request().header("X-Tenant", "b").header("x-tenant", "a").body(""), c));
  EXPECT_NE(print(request().header("X-Tenant", "a").body(""), c),
            print(request().header("X-Version", "a").body(""), c));
  EXPECT_EQ(print(request().header("X-Version", "1").header("X-Tenant", "a").body(""), c),
            print(request().header("X-TENANT", "a").header("x-version", "1").body(""), c));
}

TEST(fingerprint, the_media_type_chooses_how_a_body_is_read) {
  EXPECT_EQ(print(json("{\"a\":1,\"b\":2}")), print(json("{\"b\":2, \"a\":1}")));
  const std::string_view problem = "application/problem+json; charset=utf-8";
  EXPECT_EQ(print(typed(problem, "[ 1]")), print(typed(problem, "[1 ]")));
  EXPECT_EQ(print(form("a=1&b=2")), print(form("b=2&a=1")));
  EXPECT_NE(print(typed("text/plain", "a=1&b=2")), print(typed("text/plain", "b=2&a=1")));
  EXPECT_NE(print(request().body("[ 1]")), print(request().body("[1 ]")));
}

TEST(fingerprint, a_body_that_does_not_parse_is_taken_raw) {
  EXPECT_NE(print(json("{ bad")), print(json("{bad")));
  EXPECT_EQ(print(json("{ bad")), print(json("{ bad")));
  EXPECT_NE(print(form("a=%zz")), print(form("a=%25zz")));
  EXPECT_NE(print(form("a=%zz")), print(form("a=%yy")));
  EXPECT_NE(print(form("a=%zz&b=1")), print(form("b=1&a=%zz")));
}

TEST(fingerprint, one_body_read_in_two_ways_is_two) {
  const request q = json("{}");
  const std::set<std::string> prints = {print(q, with_mode(body_mode::raw)), print(q, with_mode(body_mode::json)),
                                        print(q, with_mode(body_mode::form)), print(q, with_mode(body_mode::none))};
  EXPECT_EQ(prints.size(), 4u);
}

TEST(fingerprint, a_fixed_mode_beats_the_media_type) {
  EXPECT_EQ(print(typed("text/plain", "[1 ]"), with_mode(body_mode::json)),
            print(typed("text/plain", "[ 1]"), with_mode(body_mode::json)));
  EXPECT_NE(print(json("[1 ]"), with_mode(body_mode::raw)), print(json("[ 1]"), with_mode(body_mode::raw)));
  EXPECT_EQ(print(json("[1]"), with_mode(body_mode::none)), print(json("[2]"), with_mode(body_mode::none)));
}

TEST(fingerprint, excluded_members_and_fields_do_not_count) {
  config::fingerprint_config c;
  c.exclude = {"/metadata/sent_at", "sent_at"};
  EXPECT_EQ(print(json(R"({"a":1,"metadata":{"sent_at":1}})"), c), print(json(R"({"a":1,"metadata":{}})"), c));
  EXPECT_EQ(print(form("a=1&sent_at=1"), c), print(form("a=1"), c));
  EXPECT_NE(print(form("a=1&/metadata/sent_at=1"), c), print(form("a=1"), c));
  EXPECT_EQ(print(form("a=1&%73ent_at=1"), c), print(form("sent_at=2&a=1"), c));
}

TEST(fingerprint, included_fields_are_all_that_counts) {
  config::fingerprint_config c;
  c.include = {"amount"};
  EXPECT_EQ(print(form("amount=1&note=x"), c), print(form("note=y&amount=1"), c));
  EXPECT_NE(print(form("amount=1"), c), print(form("amount=2"), c));
  EXPECT_NE(print(json(R"({"a":1})"), c), print(json(R"({"a":2})"), c));
  c.include = {"/amount"};
  EXPECT_NE(print(form("a=1"), c), print(form("a=2"), c));
}

TEST(form_fingerprint, the_order_of_names_does_not_count_that_of_equal_ones_does) {
  EXPECT_EQ(print(form("b=2&a=1&b=3")), print(form("a=1&b=2&b=3")));
  EXPECT_NE(print(form("b=2&b=3")), print(form("b=3&b=2")));
  EXPECT_EQ(print(form("a=x+y%26")), print(form("%61=x%20y%26")));
  EXPECT_NE(print(form("a=1%26b=2")), print(form("a=1&b=2")));
  EXPECT_EQ(print(form("a&&b=")), print(form("a=&b=")));
}

std::string multipart(const std::string& b) {
  return "--" + b + "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--" + b +
         "\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n2\r\n--" + b + "--\r\n";
}

TEST(multipart_fingerprint, the_boundary_does_not_count) {
  const std::string a = multipart("aaa"), b = multipart("b b'");
  EXPECT_EQ(print(typed("multipart/form-data; boundary=aaa", a)),
            print(typed("multipart/form-data;boundary=\"b b'\"", b)));
  EXPECT_EQ(print(typed("multipart/mixed; boundary=aaa", a)), print(typed("multipart/mixed; boundary=\"b b'\"", b)));
  EXPECT_NE(print(typed("multipart/mixed; boundary=aaa", a)), print(typed("multipart/form-data; boundary=aaa", a)));
  EXPECT_NE(print(typed("multipart/form-data; boundary=aaa", a)), print(typed("multipart/form-data; boundary=ccc", a)));
  EXPECT_NE(print(typed("multipart/form-data; boundary=aaa", a)),
            print(typed("multipart/form-data; boundary=aaa; x=1", a)));
}

TEST(multipart_fingerprint, the_boundary_counts_where_two_readers_could_take_two) {
  const std::string both = "--a\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b--";
  const std::set<std::string> types = {
      "multipart/form-data; boundary=a; boundary=b", "multipart/form-data; boundary=b; boundary=a",
      "multipart/form-data; boundary=b; x=\"; boundary=a", "multipart/form-data; boundary=a; x=\"; boundary=b"};
  std::set<std::string> prints;
  for (const std::string& type : types) prints.insert(print(typed(type, both)));
  EXPECT_EQ(prints.size(), types.size());
  const auto a = "multipart/form-data; boundary=a", b = "multipart/form-data; boundary=b";
  EXPECT_NE(print(typed(a, both).header("Content-Type", b)), print(typed(b, both).header("Content-Type", a)));
}

TEST(multipart_fingerprint, a_body_that_does_not_count_has_no_boundary_that_counts) {
  const auto none = with_mode(body_mode::none);
  EXPECT_EQ(print(typed("multipart/form-data; boundary=aaa", multipart("aaa")), none),
            print(typed("multipart/form-data; boundary=bbb", multipart("bbb")), none));
}

TEST(multipart_fingerprint, parts_count_in_their_order_with_headers_and_content) {
  const auto part = [](std::string_view headers, std::string_view content) {
    return "--x\r\n" + std::string(headers) + "\r\n" + std::string(content) + "\r\n";
  };
  const std::string_view type = "multipart/form-data; boundary=x";
  const auto of = [&](const std::string& parts) { return print(typed(type, parts + "--x--")); };
  EXPECT_EQ(of(part("A: 1\r\n", "c")), of(part("a:1 \r\n", "c")));
  const std::set<std::string> prints = {of(part("A: 1\r\n", "c")),         of(part("A: 2\r\n", "c")),
                                        of(part("A: 1\r\n", "d")),         of(part("", "c")),
                                        of(part("", "c") + part("", "d")), of(part("", "d") + part("", "c")),
                                        of(part("A: 1\r\nB: 2\r\n", "c")), of(part("B: 2\r\nA: 1\r\n", "c"))};
  EXPECT_EQ(prints.size(), 8u);
}

TEST(settings_hash, differs_with_everything_that_changes_a_digest) {
  const auto with = [](auto change) {
    config::fingerprint_config c;
    change(c);
    return settings_hash(c);
  };
  const std::set<std::uint32_t> hashes = {
      settings_hash({}),
      with([](auto& c) { c.body = body_mode::json; }),
      with([](auto& c) { c.body = body_mode::none; }),
      with([](auto& c) { c.query = false; }),
      with([](auto& c) { c.headers = {}; }),
      with([](auto& c) { c.headers = {"Content-Type", "X"}; }),
      with([](auto& c) { c.exclude = {"/a"}; }),
      with([](auto& c) { c.include = {"/a"}; }),
      with([](auto& c) { c.exclude = {"/a", "/b"}; }),
      with([](auto& c) { c.exclude = {"/a/b"}; }),
  };
  EXPECT_EQ(hashes.size(), 10u);
}

TEST(settings_hash, does_not_differ_with_what_changes_none) {
  config::fingerprint_config a, b;
  a.headers = {"X", "Content-Type"};
  b.headers = {"content-type", "x", "X"};
  a.exclude = {"/a", "/b"};
  b.exclude = {"/b", "/a"};
  EXPECT_EQ(settings_hash(a), settings_hash(b));
  EXPECT_EQ(print(json("{\"a\":1}"), a), print(json("{\"a\":2}"), b));
  a = with_mode(body_mode::raw);
  a.headers.clear();
  a.query = false;
  EXPECT_EQ(settings_hash(a), 0xd38a267bu);
  a.exclude = {"/a"};
  EXPECT_EQ(settings_hash(a), 0xd38a267bu);
}

TEST(known_settings, compute_by_the_settings_of_a_record) {
  config::fingerprint_config now, before;
  before.query = false;
  known_settings known;
  known.add(now);
  const request q = json("{}").query("a=1");
  EXPECT_FALSE(known.compute(fingerprint_version, settings_hash(before), q.view()));
  known.add(before);
  EXPECT_EQ(known.compute(fingerprint_version, settings_hash(before), q.view()), compute_fingerprint(before, q.view()));
  EXPECT_EQ(known.compute(fingerprint_version, settings_hash(now), q.view()), compute_fingerprint(now, q.view()));
  EXPECT_FALSE(known.compute(fingerprint_version + 1, settings_hash(now), q.view()));
}

TEST(fingerprint, one_computed_while_another_is_being_made_is_right) {
  // hashers of one thread share a context when they run one after the other; identity makes one inside of others
  const std::string alone = print(json("{}"));
  config::idempotency_config route;
  route.key.from = {{testing::source("fingerprint")}};
  identify(route, "", json("[]").view());
  EXPECT_EQ(print(json("{}")), alone);
}

}  // namespace
}  // namespace idem::idempotency
