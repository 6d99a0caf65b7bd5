#include <gtest/gtest.h>

#include <cstdint>

#include "idem/text/decimal.hpp"
#include "idem/text/hex.hpp"
#include "idem/text/percent.hpp"
#include "idem/text/rfc3339.hpp"

namespace idem::text {
namespace {

TEST(decimal, is_read_as_a_whole_or_not_at_all) {
  EXPECT_EQ(parse_decimal<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_decimal<std::uint16_t>("007"), 7);
  EXPECT_EQ(parse_decimal<std::int64_t>("-3"), -3);
  for (const char* bad : {"", " 1", "1 ", "+1", "0x1", "1.0", "65536", "-1"}) {
    EXPECT_FALSE(parse_decimal<std::uint16_t>(bad)) << bad;
  }
}

TEST(strict_decimal, has_one_text_for_each_number) {
  EXPECT_EQ(parse_strict_decimal<std::int64_t>("0"), 0);
  EXPECT_EQ(parse_strict_decimal<std::int64_t>("10"), 10);
  for (const char* bad : {"", "00", "01", "-0", "-1", "+1"})
    EXPECT_FALSE(parse_strict_decimal<std::int64_t>(bad)) << bad;
}

TEST(decimal, of_the_longest_numbers_has_room) {
  EXPECT_EQ(std::string_view(decimal(UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(std::string_view(decimal(INT64_MIN)), "-9223372036854775808");
}

TEST(hex, is_read_in_the_case_that_is_asked_for) {
  unsigned char bytes[2] = {};
  EXPECT_TRUE(read_hex("0aff", bytes, 2, hex_case::lower));
  EXPECT_EQ(bytes[0], 0x0a);
  EXPECT_EQ(bytes[1], 0xff);
  EXPECT_TRUE(read_hex("0AfF", bytes, 2, hex_case::any));
  for (const char* bad : {"0AfF", "0af", "0aff0", "0ag0", ""})
    EXPECT_FALSE(read_hex(bad, bytes, 2, hex_case::lower)) << bad;
  EXPECT_FALSE(read_hex("0a:0", bytes, 2, hex_case::any));
}

TEST(percent_decoding, takes_a_plus_for_what_the_caller_says) {
  EXPECT_EQ(percent_decode("a+%2b%2F"), "a++/");
  EXPECT_EQ(percent_decode("a+%2b%2F", ' '), "a +/");
  for (const char* bad : {"%", "%2", "%2x", "a%g0"}) EXPECT_FALSE(percent_decode(bad)) << bad;
}

std::string rfc3339(std::int64_t unix_ms) {
  std::string out;
  append_rfc3339(out, unix_ms);
  return out;
}

TEST(rfc3339, has_milliseconds_and_every_digit_of_a_year) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(1'772'355'907'040), "2026-03-01T09:05:07.040Z");
  EXPECT_EQ(rfc3339(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(rfc3339(INT64_MIN), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(INT64_MAX), "9999-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace idem::text
