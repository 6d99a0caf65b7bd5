#include "idem/text/json.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <limits>
#include <random>

namespace idem::text {
namespace {

std::string json_of(std::string_view text) {
  std::string out;
  append_json_string_of_bytes(out, text);
  return out;
}

constexpr auto replacement = "\xef\xbf\xbd";

TEST(json_of_any_bytes, quotes_backslashes_and_control_bytes_are_escaped) {
  EXPECT_EQ(json_of("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(json_of(std::string_view("\0\x01\n\r\t\x1f\x7f", 7)), R"("\u0000\u0001\n\r\t\u001f\u007f")");
}

TEST(json_of_any_bytes, valid_utf_8_stands_as_it_is) {
  for (const char* text : {"Grüße", "日本", "😀", "\xc2\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(json_of(text), '"' + std::string(text) + '"');
  }
}

TEST(json_of_any_bytes, each_broken_sequence_becomes_one_replacement) {
  auto expect = [](std::string_view text, int replaced, std::string_view rest) {
    std::string expected = "\"";
    for (int i = 0; i < replaced; ++i) expected += replacement;
    expected.append(rest).append("\"");
    EXPECT_EQ(json_of(text), expected);
  };
  expect("\x80z", 1, "z");              // a lone continuation byte
  expect("\xffz", 1, "z");              // never a lead byte
  expect("\xc3z", 1, "z");              // cut short
  expect("\xe2\x82z", 1, "z");          // cut short after two
  expect("\xf0\x9f\x98", 1, "");        // cut short by the end
  expect("\xc0\xafz", 2, "z");          // overlong
  expect("\xe0\x80\x80z", 3, "z");      // overlong
  expect("\xed\xa0\x80z", 3, "z");      // a surrogate
  expect("\xf4\x90\x80\x80z", 4, "z");  // above U+10FFFF
}

TEST(json_of_any_bytes, whatever_bytes_come_in_a_strict_parser_reads_them) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 24, '\0');
    for (char& c : text) c = static_cast<char>(random());
    boost::system::error_code ec;
    EXPECT_TRUE(boost::json::parse(json_of(text), ec).is_string());
    EXPECT_FALSE(ec) << ec.message();
  }
}

TEST(json, a_string_has_no_escape_but_those_that_must_be) {
  std::string out;
  append_json_string(out, std::string_view("a\"b\\c/d\0\n\x1f\x7fü", 13));
  EXPECT_EQ(out, "\"a\\\"b\\\\c/d\\u0000\\u000a\\u001f\x7fü\"");
}

TEST(json, a_byte_that_must_be_escaped_is_found_wherever_it_stands) {
  for (std::size_t size = 1; size < 20; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, '\x20'), out;
      text[at] = '\x1f';
      append_json_string(out, text);
      EXPECT_EQ(out, '"' + std::string(at, ' ') + "\\u001f" + std::string(size - at - 1, ' ') + '"');
    }
  }
}

TEST(json, numbers_without_a_json_form_are_null) {
  std::string out;
  append_json_number(out, 0.25);
  out += ' ';
  append_json_number(out, std::nan(""));
  out += ' ';
  append_json_number(out, std::numeric_limits<double>::infinity());
  EXPECT_EQ(out, "0.25 null null");
}

}  // namespace
}  // namespace idem::text
