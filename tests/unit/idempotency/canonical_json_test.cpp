#include <gtest/gtest.h>

#include <cstdio>

#include "idem/idempotency/fingerprint.hpp"

namespace idem::idempotency {
namespace {

using list = std::vector<std::string>;

std::string canonical(std::string_view text, const list& exclude = {}, const list& include = {}) {
  return canonical_json(text, exclude, include).value_or("(none)");
}

TEST(canonical_json, white_space_does_not_count) {
  EXPECT_EQ(canonical(" { \"a\" :\t[ 1 ,\r\n 2 ] , \"b\" : { } , \"c\":[ ] } \n"), R"({"a":[1,2],"b":{},"c":[]})");
}

TEST(canonical_json, members_are_sorted_by_code_point_on_every_level) {
  EXPECT_EQ(canonical(R"({"b":{"d":1,"c":[{"f":1,"e":2}]},"a":0})"), R"({"a":0,"b":{"c":[{"e":2,"f":1}],"d":1}})");
  EXPECT_EQ(canonical("{\"\xef\xbf\xbd\":1,\"\xf0\x90\x80\x80\":2,\"z\":3,\"Z\":4,\"\":5,\"aa\":6,\"a\":7}"),
            "{\"\":5,\"Z\":4,\"a\":7,\"aa\":6,\"z\":3,\"\xef\xbf\xbd\":1,\"\xf0\x90\x80\x80\":2}");
  EXPECT_EQ(canonical(R"({"\u001f":1,"\"":2,"!":3,"#":4})"), R"({"\u001f":1,"!":3,"\"":2,"#":4})");
}

TEST(canonical_json, members_of_one_name_keep_their_order) {
  EXPECT_EQ(canonical(R"({"b":1,"a":2,"b":0,"a":1})"), R"({"a":2,"a":1,"b":1,"b":0})");
}

TEST(canonical_json, elements_keep_their_order) { EXPECT_EQ(canonical("[3,1,2,[],1]"), "[3,1,2,[],1]"); }

TEST(canonical_json, numbers_keep_their_digits) {
  for (const std::string_view number : {"0",
                                        "-0",
                                        "1",
                                        "1.0",
                                        "1.00",
                                        "10",
                                        "1e1",
                                        "1E1",
                                        "1E+1",
                                        "1e-1",
                                        "1e01",
                                        "9007199254740993",
                                        "-9223372036854775808",
                                        "9223372036854775807",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "123456789012345678901234567890.123456789012345678901234567890",
                                        "0.1",
                                        "-0.0",
                                        "-0e-0",
                                        "1.5e300",
                                        "1e308",
                                        "1e400",
                                        "1e-400",
                                        "0.00000000000000000000000000000000000000000000001",
                                        "100000000000000000000000000000000000000000000"})
    EXPECT_EQ(canonical(number), number);
  EXPECT_EQ(canonical("[ 1 , 1.0,-1e5 ]"), "[1,1.0,-1e5]");
}

TEST(canonical_json, escapes_equal_their_characters) {
  EXPECT_EQ(canonical(R"("\u0041\/\b\f\n\r\t\\\"\u00e9\ud83d\ude00")"),
            "\"A/\\u0008\\u000c\\u000a\\u000d\\u0009\\\\\\\"\xc3\xa9\xf0\x9f\x98\x80\"");
  EXPECT_EQ(canonical(R"({"\u0062":1,"a":2})"), R"({"a":2,"b":1})");
  EXPECT_EQ(canonical(R"("\u0000\u001F")"), "\"\\u0000\\u001f\"");
  EXPECT_EQ(canonical("\"\x7f\""), "\"\x7f\"");
}

TEST(canonical_json, every_special_character_is_found_wherever_it_stands) {
  for (int c = 0; c < 0x80; ++c) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
    const bool special = c < 0x20 || c == '"' || c == '\\';
    const std::string plain(1, static_cast<char>(c));
    const std::string written = c < 0x20 ? escape : special ? "\\" + plain : plain;
    for (std::size_t before = 0; before < 20; ++before) {
      const std::string left(before, '!'), right(19 - before, '\x7f');
      EXPECT_EQ(canonical("\"" + left + escape + right + "\""), "\"" + left + written + right + "\"") << c << before;
    }
  }
}

TEST(canonical_json, any_value_may_stand_alone) {
  for (const std::string_view text : {"true", "false", "null", "\"\"", "{}", "[]", "7"})
    EXPECT_EQ(canonical(text), text);
}

TEST(canonical_json, what_is_no_json_does_not_parse) {
  for (const std::string_view text : {
           "",        " ",          "{",
           "[",       "]",          "{]",
           "[1,]",    "{\"a\":1,}", "{,}",
           "{\"a\"}", "{\"a\":}",   "{a:1}",
           "'a'",     "[1 2]",      "{} {}",
           "1 2",     "tru",        "True",
           "nul",     "01",         "-",
           "1.",      ".5",         "+1",
           "1e",      "1e+",        "0x1",
           "NaN",     "Infinity",   "\"",
           "\"a",     "\"\\x\"",    "\"\\u12\"",
           "\"\t\"",  "\"\n\"",     "// c\n1",
           "/**/1",   "[1]x",       "\xef\xbb\xbf{}",
       })
    EXPECT_EQ(canonical(text), "(none)") << text;
  EXPECT_EQ(canonical(std::string_view("1\0", 2)), "(none)");
}

TEST(canonical_json, lone_surrogates_do_not_parse) {
  for (const std::string_view text : {R"("\ud83d")", R"("\ude00")", R"("\ud83dx")", R"("\ud83d\n")",
                                      R"("\ud83d\ud83d")", R"("\ude00\ud83d")", R"({"\ud800":1})"})
    EXPECT_EQ(canonical(text), "(none)") << text;
}

TEST(canonical_json, invalid_utf_8_does_not_parse) {
  for (const std::string_view bytes :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xf8\x88\x80\x80\x80", "\xff", "\xe2\x82", "\xc3\x28"}) {
    EXPECT_EQ(canonical("\"" + std::string(bytes) + "\""), "(none)") << testing::PrintToString(bytes);
    EXPECT_EQ(canonical("{\"" + std::string(bytes) + "\":1}"), "(none)") << testing::PrintToString(bytes);
  }
}

TEST(canonical_json, sixty_four_levels_parse_and_sixty_five_do_not) {
  const auto arrays = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(canonical(arrays(64)), arrays(64));
  EXPECT_EQ(canonical(arrays(65)), "(none)");
  EXPECT_EQ(canonical(arrays(100000)), "(none)");
  const auto objects = [](std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += "{\"a\":";
    return text + "1" + std::string(n, '}');
  };
  EXPECT_EQ(canonical(objects(64)), objects(64));
  EXPECT_EQ(canonical(objects(65)), "(none)");
}

TEST(canonical_json, is_its_own_canonical_form) {
  for (const std::string_view text : {R"({"b":[1,{"z":"\u0001\"","y":null}],"a":1.0,"b":2})", R"([{},[],"",-0.0e5])"}) {
    const std::string once = canonical(text);
    EXPECT_EQ(canonical(once), once);
  }
}

TEST(canonical_json, long_strings_and_many_members_come_whole) {
  const std::string text(100000, 'x');
  EXPECT_EQ(canonical("\"" + text + "\\n\""), "\"" + text + "\\u000a\"");
  std::string object = "{", sorted = "{";
  for (int i = 9999; i >= 1000; --i)
    object += "\"" + std::to_string(i) + "\":" + std::to_string(i) + (i > 1000 ? "," : "}");
  for (int i = 1000; i <= 9999; ++i)
    sorted += "\"" + std::to_string(i) + "\":" + std::to_string(i) + (i < 9999 ? "," : "}");
  EXPECT_EQ(canonical(object), sorted);
}

TEST(excluded_json, does_not_count_whatever_it_is) {
  for (const std::string_view value : {"1", "\"x\"", "null", "{\"a\":[{}]}", "[[1],{\"b\":{}}]", "[]"}) {
    const std::string v(value);
    EXPECT_EQ(canonical("{\"b\":1,\"t\":" + v + ",\"a\":2}", {"/t"}), R"({"a":2,"b":1})");
    EXPECT_EQ(canonical("{\"b\":1,\"t\":" + v + "}", {"/t"}), R"({"b":1})");
    EXPECT_EQ(canonical("{\"t\":" + v + "}", {"/t"}), "{}");
    EXPECT_EQ(canonical("[" + v + "]", {"/0"}), "[]");
  }
}

TEST(excluded_json, is_found_by_pointers) {
  EXPECT_EQ(canonical(R"({"m":{"t":1,"u":2},"t":3})", {"/m/t"}), R"({"m":{"u":2},"t":3})");
  EXPECT_EQ(canonical(R"({"a/b":1,"c~d":2,"":3,"e":4})", {"/a~1b", "/c~0d", "/"}), R"({"e":4})");
  EXPECT_EQ(canonical(R"({"\u0074":1})", {"/t"}), "{}");
  EXPECT_EQ(canonical(R"({"t":1,"t":2,"u":3})", {"/t"}), R"({"u":3})");
  EXPECT_EQ(canonical(R"({"i":[1,2,3]})", {"/i/1"}), R"({"i":[1,3]})");
  EXPECT_EQ(canonical(R"({"i":[1,2,3]})", {"/i/01", "/i/-", "/i/3", "/i"}), "{}");
  EXPECT_EQ(canonical(R"({"i":{"1":0}})", {"/i/1"}), R"({"i":{}})");
  EXPECT_EQ(canonical(R"({"a":1})", {"/a/b", "/c", "a", "", "/~2"}), R"({"a":1})");
}

TEST(excluded_json, a_star_stands_for_every_element) {
  EXPECT_EQ(canonical(R"({"i":[{"t":1,"n":1},{"t":2},[{"t":3}],4]})", {"/i/*/t"}), R"({"i":[{"n":1},{},[{"t":3}],4]})");
  EXPECT_EQ(canonical(R"([[{"t":1}],[{"t":2,"u":3}]])", {"/*/*/t"}), R"([[{}],[{"u":3}]])");
  EXPECT_EQ(canonical(R"({"i":{"a":1,"*":2}})", {"/i/*"}), R"({"i":{"a":1}})");
}

TEST(included_json, is_all_that_counts) {
  EXPECT_EQ(canonical(R"({"b":{"y":1,"x":[1]},"a":2,"c":3})", {}, {"/b", "/c"}), R"({"b":{"x":[1],"y":1},"c":3})");
  EXPECT_EQ(canonical(R"({"b":{"y":1,"x":[1]},"a":2})", {}, {"/b/x"}), R"({"b":{"x":[1]}})");
  EXPECT_EQ(canonical(R"({"i":[{"n":1,"t":2},{"t":3}]})", {}, {"/i/*/n"}), R"({"i":[{"n":1},{}]})");
  EXPECT_EQ(canonical(R"({"a":1})", {}, {"/b"}), "{}");
}

TEST(included_json, keeps_what_stands_in_the_way) {
  EXPECT_NE(canonical(R"({"a":1})", {}, {"/a/b"}), canonical(R"({"a":2})", {}, {"/a/b"}));
  EXPECT_EQ(canonical("5", {}, {"/a"}), "5");
}

TEST(included_json, can_be_excluded_in_parts) {
  EXPECT_EQ(canonical(R"({"a":{"t":1,"u":2},"b":3})", {"/a/t"}, {"/a"}), R"({"a":{"u":2}})");
  EXPECT_EQ(canonical(R"({"a":{"t":1,"u":2},"b":3})", {"/a"}, {"/a/t"}), "{}");
}

TEST(included_json, a_way_to_what_is_excluded_is_no_way_to_what_counts) {
  EXPECT_EQ(canonical(R"({"a":{"t":1,"u":2},"b":3})", {"/a/t"}, {"/b"}), R"({"b":3})");
}

TEST(included_json, everything_counts_if_no_pointer_is_among_the_names) {
  EXPECT_EQ(canonical(R"({"a":1})", {}, {"amount"}), R"({"a":1})");
}

}  // namespace
}  // namespace idem::idempotency
