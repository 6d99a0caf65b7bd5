#include "idem/idempotency/key.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace idem::idempotency {
namespace {

parsed_key parse(std::string_view line, key_syntax syntax = {}) {
  const std::string_view lines[] = {line};
  return parse_key(lines, syntax);
}

std::string accepted(std::string_view line, key_syntax syntax = {}) {
  const parsed_key k = parse(line, syntax);
  EXPECT_TRUE(k.ok) << line << ": " << k.why;
  return k.value;
}

void expect_refused(std::string_view line, key_syntax syntax = {}) {
  const parsed_key k = parse(line, syntax);
  EXPECT_FALSE(k.ok) << line;
  EXPECT_FALSE(k.why.empty()) << line;
}

TEST(key, quoted_and_bare_are_one_key) {
  EXPECT_EQ(accepted("abc"), "abc");
  EXPECT_EQ(accepted("\"abc\""), "abc");
  EXPECT_EQ(accepted(" \tabc\t "), "abc");
}

TEST(key, escapes_in_quotes_are_undone) { EXPECT_EQ(accepted(R"("a\"b\\c")"), R"(a"b\c)"); }

TEST(key, quotes_may_hold_spaces_commas_and_semicolons) { EXPECT_EQ(accepted("\"a b,c;d\""), "a b,c;d"); }

TEST(key, bare_keys_take_every_other_printable_character) {
  const std::string_view all = "!#$%&'()*+-./0123456789:<=>?@AZ[\\]^_`az{|}~";
  EXPECT_EQ(accepted(all), all);
}

TEST(key, no_line_and_two_lines_are_refused) {
  EXPECT_FALSE(parse_key({}, {}).ok);
  const std::string_view twice[] = {"abc", "abc"};
  EXPECT_FALSE(parse_key(twice, {}).ok);
}

TEST(key, empty_is_refused_quoted_or_not) {
  expect_refused("");
  expect_refused("   ");
  expect_refused("\"\"");
}

TEST(key, a_comma_in_a_bare_key_is_refused) {
  expect_refused("a,b");
  expect_refused("abc, def");
  expect_refused("\"abc\", \"def\"");
}

TEST(key, quotes_semicolons_and_spaces_in_a_bare_key_are_refused) {
  expect_refused("ab\"c");
  expect_refused("abc\"");
  expect_refused("abc;v=1");
  expect_refused("a b");
}

TEST(key, control_and_non_ascii_bytes_are_refused) {
  expect_refused("a\tb");
  expect_refused(std::string_view("a\0b", 3));
  expect_refused("a\x7f");
  expect_refused("caf\xc3\xa9");
  expect_refused("\"a\tb\"");
  expect_refused("\"caf\xc3\xa9\"");
  expect_refused("\"\x7f\"");
}

TEST(key, an_unterminated_quote_is_refused) {
  expect_refused("\"abc");
  expect_refused("\"");
  expect_refused("\"abc\\\"");
  expect_refused("\"abc\\");
}

TEST(key, a_bad_escape_is_refused) {
  expect_refused(R"("a\nb")");
  expect_refused(R"("a\u0041")");
}

TEST(key, parameters_behind_a_quoted_key_are_checked_and_ignored) {
  for (const std::string_view parameters : {";a", "; a", ";a=1", ";a=-12.345", ";a=\"x;y\"", ";a=token/x:y", ";a=*t",
                                            ";a=?1", ";a=:YWJj:", ";*a.b_c-d=1;b", ";a=999999999999999", "  "})
    EXPECT_EQ(accepted("\"abc\"" + std::string(parameters)), "abc") << parameters;
}

TEST(key, what_is_no_parameter_behind_a_quoted_key_is_refused) {
  for (const std::string_view rest : {"x",
                                      " x",
                                      ";",
                                      ";A=1",
                                      ";1",
                                      ";a=",
                                      ";a= 1",
                                      ";a =1",
                                      ";a=?2",
                                      ";a=:x",
                                      ";a=:%:",
                                      ";a=\"x",
                                      ";a=1.",
                                      ";a=-",
                                      ";a=1.2345",
                                      ";a=1234567890123.1",
                                      ";a=1234567890123456",
                                      ";a=()",
                                      ";a=1 ;b",
                                      "\"\"",
                                      ";a=\"\\x\"",
                                      " ;a"})
    expect_refused("\"abc\"" + std::string(rest));
}

TEST(key, the_limit_is_of_the_key_itself) {
  EXPECT_EQ(accepted("12345678", {.max_length = 8}), "12345678");
  EXPECT_EQ(accepted("\"12345678\";p=1", {.max_length = 8}), "12345678");
  EXPECT_EQ(accepted("\"\\\\234567\\\"\"", {.max_length = 8}), "\\234567\"");
  expect_refused("123456789", {.max_length = 8});
  expect_refused("\"123456789\"", {.max_length = 8});
}

TEST(key, by_default_255_bytes_are_the_limit) {
  EXPECT_EQ(accepted(std::string(255, 'k')).size(), 255u);
  expect_refused(std::string(256, 'k'));
}

TEST(key, strict_takes_quoted_keys_only) {
  EXPECT_EQ(accepted("\"abc\"", {.strict = true}), "abc");
  expect_refused("abc", {.strict = true});
}

TEST(key, a_uuid_is_one_key_in_any_case) {
  const key_syntax uuid{.uuid = true};
  EXPECT_EQ(accepted("8E03978E-40D5-43DD-BC93-6894A57F9324", uuid), "8e03978e-40d5-43dd-bc93-6894a57f9324");
  EXPECT_EQ(accepted("\"8e03978e-40d5-43dd-bc93-6894a57f9324\"", uuid), "8e03978e-40d5-43dd-bc93-6894a57f9324");
  expect_refused("8e03978e40d543ddbc936894a57f9324", uuid);
  expect_refused("8e03978e-40d5-43dd-bc93-6894a57f932", uuid);
  expect_refused("8e03978e-40d5-43dd-bc93-6894a57f932g", uuid);
  expect_refused("8e03978e-40d5-43dd-bc93-6894a57f93245", uuid);
  expect_refused("8e03978e-40d5-43dd-bc936-894a57f9324", uuid);
}

TEST(key, without_uuid_case_counts) { EXPECT_NE(accepted("ABC"), accepted("abc")); }

}  // namespace
}  // namespace idem::idempotency
