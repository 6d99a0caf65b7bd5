#include <gtest/gtest.h>

#include "idem/text/hex.hpp"
#include "idempotency/form.hpp"
#include "idempotency/media_type.hpp"
#include "idempotency/multipart.hpp"
#include "idempotency/sha256.hpp"
#include "idempotency/xml_lookup.hpp"

namespace idem::idempotency {
namespace {

TEST(media_type, names_the_syntax_in_any_case_and_with_parameters) {
  EXPECT_EQ(syntax_of("application/json"), body_syntax::json);
  EXPECT_EQ(syntax_of("Application/JSON ; charset=utf-8"), body_syntax::json);
  EXPECT_EQ(syntax_of("application/vnd.api+json"), body_syntax::json);
  EXPECT_EQ(syntax_of("application/x-www-form-urlencoded"), body_syntax::form);
  EXPECT_EQ(syntax_of("multipart/form-data; boundary=a"), body_syntax::multipart);
  EXPECT_EQ(syntax_of("Multipart/Mixed; boundary=a"), body_syntax::multipart);
  for (const std::string_view type : {"", "json", "application/jsonp", "text/json;x=+json", "+jso"})
    EXPECT_EQ(syntax_of(type), body_syntax::other) << type;
}

void expect_split(std::string_view type, std::string_view boundary, std::string_view rest) {
  const auto split = split_boundary(type);
  ASSERT_TRUE(split) << type;
  EXPECT_EQ(split->boundary, boundary) << type;
  EXPECT_EQ(split->rest, rest) << type;
}

TEST(media_type, is_split_from_its_boundary) {
  expect_split("multipart/form-data; boundary=abc", "abc", "multipart/form-data");
  expect_split("multipart/form-data; boundary===_a:b/c", "==_a:b/c", "multipart/form-data");
  expect_split("multipart/form-data;x=\"a;\\\"boundary=no\"; Boundary = \"a;b\"", "a;b",
               "multipart/form-data; x=\"a;\\\"boundary=no\"");
  expect_split("multipart/form-data; a=\"x;y\" ;boundary=\"b;c\"; d=1", "b;c", "multipart/form-data; a=\"x;y\"; d=1");
  expect_split("multipart/form-data; a; boundary=" + std::string(70, 'x'), std::string(70, 'x'),
               "multipart/form-data; a");
}

TEST(media_type, has_no_boundary_where_two_readers_could_find_two) {
  for (const std::string_view parameters : {"",
                                            "; boundary",
                                            "; boundary=",
                                            "; boundary=\"\"",
                                            "; boundary=a; boundary=b",
                                            "; boundary=a; boundary=a",
                                            "; boundary=a; boundary*0=b",
                                            "; boundary*=a",
                                            "; boundary=\"a\\b\"",
                                            "; boundary=a\\b",
                                            "; boundary=\"",
                                            "; boundary=\"a",
                                            "; boundary=\"a\\\"",
                                            "; boundary=a\"",
                                            "; boundary=\"a\"b",
                                            "; boundary=\"a\"\"b\"",
                                            "; boundary=a; x\"",
                                            "; boundary=a; x=\"; boundary=b",
                                            "; x=a\"; boundary=b; y=\"",
                                            "; x\"=\"a; boundary=b",
                                            "\"; boundary=a",
                                            "\";\"; boundary=a"})
    EXPECT_FALSE(split_boundary("multipart/form-data" + std::string(parameters))) << parameters;
  EXPECT_FALSE(split_boundary("multipart/form-data; boundary=" + std::string(71, 'x')));
  EXPECT_FALSE(split_boundary(""));
}

TEST(form_decode, undoes_percent_and_plus) {
  EXPECT_EQ(form_decode("a%20b+c%2b%2Bd%00"), std::string("a b c++d\0", 9));
  EXPECT_EQ(form_decode(""), "");
  for (const std::string_view text : {"%", "a%", "%1", "%1g", "%g1", "%%41"})
    EXPECT_EQ(form_decode(text), std::nullopt);
}

TEST(multipart, is_read_by_its_boundary) {
  const auto m =
      parse_multipart("pre\r\n--b \t\r\nA-B : x \r\n\r\none\r\ntwo\r\n\r\n--b\r\n\r\n\r\n--b-- \r\npost", "b");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->preamble, "pre");
  ASSERT_EQ(m->parts.size(), 2u);
  ASSERT_EQ(m->parts[0].headers.size(), 1u);
  EXPECT_EQ(m->parts[0].headers[0].first, "a-b");
  EXPECT_EQ(m->parts[0].headers[0].second, "x");
  EXPECT_EQ(m->parts[0].content, "one\r\ntwo\r\n");
  EXPECT_TRUE(m->parts[1].headers.empty());
  EXPECT_EQ(m->parts[1].content, "");
  EXPECT_EQ(m->epilogue, "post");
}

TEST(multipart, what_two_readers_could_read_in_two_ways_does_not_parse) {
  for (const std::string_view body :
       {"", "--b", "--b\r\n", "--b\r\n\r\nx", "--b\r\n\r\nx\r\n--b", "--b\r\n\r\nx\r\n--b-", "--b\r\n\r\nx\r\n--b--y",
        "--b\n\nx\n--b--", "--b\r\nA: 1\r\n--b--", "--b\r\n--b--", "--b\r\nA\r\n\r\nx\r\n--b--",
        "--b\r\n: 1\r\n\r\nx\r\n--b--", "--b\r\nA: 1\r\n folded\r\n\r\nx\r\n--b--",
        "--b\r\nA: 1\nB: 2\r\n\r\nx\r\n--b--", "--b\r\n\r\nx\r\n--bc\r\n--b--", "--c\r\n\r\nx\r\n--c--"})
    EXPECT_FALSE(parse_multipart(body, "b")) << body;
}

TEST(multipart, a_body_may_have_no_parts) {
  const auto m = parse_multipart("--b--", "b");
  ASSERT_TRUE(m);
  EXPECT_TRUE(m->parts.empty());
}

lookup xml(std::string_view text, std::string_view path = "/a/b") { return find_in_xml(text, path).result; }

TEST(xml_lookup, finds_the_only_element_of_the_path) {
  EXPECT_EQ(find_in_xml("<?xml version='1.0'?><a x='1'><c><b>no</b></c><b y='2'>yes</b></a>", "/a/b").value, "yes");
  EXPECT_EQ(find_in_xml("<n:a xmlns:n='u'><n:b>yes</n:b></n:a>", "/n:a/n:b").value, "yes");
  EXPECT_EQ(find_in_xml("<a>text<b>1</b>text</a>", "/a/b").value, "1");
  EXPECT_EQ(find_in_xml("<a><b/><c>x</c></a>", "/a/c").value, "x");
  EXPECT_EQ(find_in_xml("<a>&lt;&#65;</a>", "/a").value, "<A");
  EXPECT_EQ(find_in_xml("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>", "/a").value, "\xc3\xa9");
}

TEST(xml_lookup, an_element_with_elements_inside_is_no_value) {
  EXPECT_EQ(xml("<a><b>x<c/></b></a>"), lookup::absent);
  EXPECT_EQ(xml("<a><b><b>x</b></b></a>"), lookup::absent);
  EXPECT_EQ(xml("<a><x><b>1</b></x></a>"), lookup::absent);
  EXPECT_EQ(xml("<b>1</b>"), lookup::absent);
}

TEST(xml_lookup, two_elements_at_the_path_are_ambiguous) {
  EXPECT_EQ(xml("<a><b>1</b><c/><b>1</b></a>"), lookup::ambiguous);
  EXPECT_EQ(xml("<a><b><c/></b><b>1</b></a>"), lookup::ambiguous);
  EXPECT_EQ(find_in_xml("<r><a/><a><b>1</b></a><a><b>2</b></a></r>", "/r/a/b").result, lookup::ambiguous);
}

TEST(xml_lookup, a_dtd_and_what_is_not_well_formed_are_no_xml) {
  for (const std::string_view text :
       {"", "<a><b>1</b>", "<a><b>1</a></b>", "<a><b>&e;</b></a>", "<a><b>1</b></a><a/>", "{}",
        "<!DOCTYPE a><a><b>1</b></a>", "<!DOCTYPE a [<!ENTITY e \"x\">]><a><b>&e;</b></a>", "<a><b>\xff</b></a>"})
    EXPECT_EQ(xml(text), lookup::absent) << text;
}

TEST(xml_lookup, depth_is_bounded) {
  const auto nested = [](std::size_t n) {
    std::string text = "<a><b>1</b>";
    for (std::size_t i = 1; i < n; ++i) text += "<x>";
    for (std::size_t i = 1; i < n; ++i) text += "</x>";
    return text + "</a>";
  };
  EXPECT_EQ(xml(nested(32)), lookup::found);
  EXPECT_EQ(xml(nested(33)), lookup::absent);
}

TEST(xml_lookup, a_path_must_begin_with_a_slash) {
  EXPECT_EQ(xml("<a><b>1</b></a>", "a/b"), lookup::absent);
  EXPECT_EQ(xml("<a><b>1</b></a>", ""), lookup::absent);
}

TEST(sha256, hashers_beside_each_other_do_not_disturb) {
  const auto of = [](std::string_view text) {
    sha256 h;
    h.update(text);
    return h.finish();
  };
  sha256 outer;
  outer.update("a");
  const auto inner = of("b");
  outer.update("b");
  EXPECT_EQ(outer.finish(), of("ab"));
  EXPECT_EQ(inner, of("b"));
  char hex[64];
  text::write_hex(hex, of("abc").data(), 32);
  EXPECT_EQ(std::string_view(hex, 64), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace idem::idempotency
