#include "idempotency/key_source.hpp"

#include <gtest/gtest.h>

#include "idem/idempotency/fingerprint.hpp"
#include "request.hpp"

namespace idem::idempotency {
namespace {

using kind = source_value::kind;
using testing::request;

source_value read(std::string_view source, const request& q, std::size_t max_length = 255) {
  config::idempotency_config route;
  route.key.max_length = max_length;
  return read_source(testing::source(source), route, q.view());
}

void expect_value(std::string_view source, const request& q, std::string_view value) {
  const source_value v = read(source, q);
  EXPECT_EQ(v.result, kind::value) << source;
  EXPECT_EQ(v.value, value) << source;
}

void expect(kind expected, std::string_view source, const request& q) {
  const source_value v = read(source, q);
  EXPECT_EQ(v.result, expected) << source;
  EXPECT_EQ(v.why.empty(), expected != kind::refused);
}

request form(std::string_view body) {
  return request().header("Content-Type", "application/x-www-form-urlencoded; charset=utf-8").body(body);
}

TEST(query_key, is_decoded) {
  expect_value("query:key", request().query("a=1&key=b%20c%2Bd&z"), "b c+d");
  expect_value("query:key", request().query("%6bey=1"), "1");
  expect(kind::absent, "query:key", request().query("Key=1&keys=2"));
  expect(kind::absent, "query:key", request().query("key="));
  expect(kind::absent, "query:key", request());
}

TEST(query_key, twice_or_badly_encoded_is_refused) {
  expect(kind::refused, "query:key", request().query("key=1&key=1"));
  expect(kind::refused, "query:key", request().query("key=&key=1"));
  expect(kind::refused, "query:key", request().query("key=100%"));
  expect(kind::absent, "query:key", request().query("%zz=1"));
}

TEST(path_key, is_the_captured_segment_as_it_came) {
  expect_value("path:{id}", request().capture("account", "1").capture("id", "a%20b"), "a%20b");
  expect_value("path:id", request().capture("id", "7"), "7");
  expect(kind::absent, "path:{id}", request().capture("account", "1"));
}

TEST(form_key, is_read_from_forms_only) {
  expect_value("form:key", form("a=1&key=x+y%00"), std::string_view("x y\0", 4));
  expect(kind::absent, "form:key", form("a=1"));
  expect(kind::refused, "form:key", form("key=1&key=2"));
  expect(kind::refused, "form:key", form("key=%1"));
  expect(kind::absent, "form:key", request().header("Content-Type", "application/json").body("key=1"));
  expect(kind::absent, "form:key", request().body("key=1"));
}

TEST(json_key, is_the_scalar_at_the_pointer) {
  expect_value("json:/id", request().body(R"({"id":"a\u0062\n"})"), "ab\n");
  expect_value("json:/id", request().body(R"({"id":1.50})"), "1.50");
  expect_value("json:/id", request().body(R"({"id":true})"), "true");
  expect_value("json:/a/0/b~1c/~0", request().body(R"({"a":[{"b/c":{"~":-0}},{"b/c":{"~":2}}]})"), "-0");
  expect_value("json:/", request().body(R"({"":"x"})"), "x");
}

TEST(json_key, is_absent_where_there_is_no_scalar) {
  for (const std::string_view body : {R"({})", R"({"id":null})", R"({"id":{}})", R"({"id":[1]})", R"({"id":""})", "[1]",
                                      "1", "", "no json", R"({"id":"a"} x)", R"({"x":{"id":1}})"})
    expect(kind::absent, "json:/id", request().body(body));
}

TEST(json_key, is_found_in_what_applications_read_though_it_is_not_quite_json) {
  expect_value("json:/id", request().body("\xef\xbb\xbf{\"id\":1}"), "1");
  expect_value("json:/id", request().body("{\"text\":\"caf\xe9\",\"id\":1}"), "1");
  expect_value("json:/id", request().body("{\"id\":\"caf\xe9\"}"), "caf\xe9");
  for (const std::string_view text : {R"(\ud83d)", R"(\ude00)", R"(\ud83dx)", R"(\ud83d\n)", R"(\ud83d\ud83d\ude00)",
                                      R"(\ude00\ud83d)", R"(\\\uDFFF\ud83d\"\\)"}) {
    expect_value("json:/id", request().body(R"({"text":")" + std::string(text) + R"(","id":1})"), "1");
  }
  expect_value("json:/id", request().body(R"({"id":"a\ud83d"})"), "a\xed\xa0\xbd");
  expect_value("json:/id", request().body(R"({"id":"\\ud83d","text":"\ud83d"})"), "\\ud83d");
  expect(kind::refused, "json:/id", request().body(R"({"id":1,"text":"\ud83d","id":1})"));
  for (const std::string_view body :
       {"\xef\xbb\xbf", "\xef\xbb\xbf\xef\xbb\xbf{\"id\":1}", "\xff{\"id\":1}", "{\"id\":1}\xff",
        R"({"id":1,"text":"\ud83d)", R"({"id":1,"text":"\ud8")", R"({"id":1}\ud83d)"})
    expect(kind::absent, "json:/id", request().body(body));
}

TEST(json_key, two_members_on_the_way_are_refused) {
  expect(kind::refused, "json:/id", request().body(R"({"id":1,"id":1})"));
  expect(kind::refused, "json:/a/id", request().body(R"({"a":{"id":1},"a":2})"));
  expect(kind::refused, "json:/a/id", request().body(R"({"a":{},"a":{"id":1}})"));
  expect(kind::refused, "json:/id", request().body(R"({"id":null,"\u0069d":1})"));
  expect_value("json:/id", request().body(R"({"x":1,"id":1,"x":2,"y":{"id":1,"id":2}})"), "1");
}

TEST(xml_key, is_the_text_of_the_element) {
  expect_value("xml:/a/b", request().body("<a><c/><b> x<![CDATA[<y>]]>&amp; <!-- no -->z </b></a>"), "x<y>& z");
  expect(kind::refused, "xml:/a/b", request().body("<a><b>1</b><b>1</b></a>"));
  expect(kind::absent, "xml:/a/b", request().body("<a><b/></a>"));
}

TEST(keys_out_of_the_body, wait_for_it) {
  expect(kind::need_body, "json:/id", request());
  expect(kind::need_body, "xml:/a", request());
  expect(kind::need_body, "fingerprint", request());
  expect(kind::need_body, "form:a", request().header("Content-Type", "application/x-www-form-urlencoded"));
}

TEST(keys_outside_of_headers, are_bounded_by_the_routes_length) {
  EXPECT_EQ(read("query:key", request().query("key=12345"), 5).result, kind::value);
  EXPECT_EQ(read("query:key", request().query("key=123456"), 5).result, kind::refused);
  EXPECT_EQ(read("json:/a", request().body(R"({"a":"123456"})"), 5).result, kind::refused);
  EXPECT_EQ(read("path:{a}", request().capture("a", "123456"), 5).result, kind::refused);
}

TEST(fingerprint_key, is_the_requests_own_fingerprint) {
  const request q = request().body("abc");
  const source_value v = read("fingerprint", q);
  EXPECT_EQ(v.result, kind::value);
  EXPECT_EQ(v.value.size(), 64u);
  EXPECT_NE(v.value, read("fingerprint", request().body("abd")).value);
}

TEST(keys_that_cannot_be_configured, are_absent) {
  for (const std::string_view s : {"jwt:sub", "mtls:subject", "credential", "cookie:a", "const:a"})
    expect(kind::absent, s, request().header("Cookie", "a=1").header("Authorization", "x").body("{}"));
}

}  // namespace
}  // namespace idem::idempotency
