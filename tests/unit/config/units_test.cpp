#include "config/units.hpp"

#include <gtest/gtest.h>

namespace idem::config {
namespace {

using namespace std::chrono_literals;

TEST(duration, every_unit_is_read) {
  EXPECT_EQ(*parse_duration("250ms").value, 250ms);
  EXPECT_EQ(*parse_duration("15s").value, 15s);
  EXPECT_EQ(*parse_duration("5m").value, 5min);
  EXPECT_EQ(*parse_duration("24h").value, 24h);
  EXPECT_EQ(*parse_duration("3d").value, 72h);
  EXPECT_EQ(*parse_duration("0s").value, 0ms);
}

TEST(duration, parts_of_falling_unit_add_up) {
  EXPECT_EQ(*parse_duration("1h30m").value, 90min);
  EXPECT_EQ(*parse_duration("1d2h3m4s5ms").value, 26h + 3min + 4s + 5ms);
}

TEST(duration, what_is_no_duration_is_refused_with_its_reason) {
  const std::pair<const char*, const char*> cases[] = {{"15", "no unit"},
                                                       {"1h30", "no unit"},
                                                       {"", "no duration"},
                                                       {"soon", "no duration"},
                                                       {"-5s", "no duration"},
                                                       {"5 s", "unknown unit"},
                                                       {"5sec", "unknown unit"},
                                                       {"5S", "unknown unit"},
                                                       {"1.5s", "whole number"},
                                                       {"30m1h", "wrong order"},
                                                       {"1m1m", "wrong order"},
                                                       {"3651d", "too long"},
                                                       {"5us", "unknown unit"},
                                                       {"s", "no duration"},
                                                       {"3650d1ms", "too long"},
                                                       {" 5s", "no duration"},
                                                       {"99999999999999999999s", "too long"},
                                                       {"18446744073709551615d", "too long"}};
  for (const auto& [text, why] : cases) {
    const auto read = parse_duration(text);
    EXPECT_FALSE(read) << text;
    EXPECT_NE(read.why.find(why), std::string::npos) << text << ": " << read.why;
  }
}

TEST(duration, is_shown_in_the_notation_that_is_read) {
  EXPECT_EQ(show_duration(90min), "1h30m");
  EXPECT_EQ(show_duration(1500ms), "1s500ms");
  EXPECT_EQ(show_duration(0ms), "0s");
  for (auto value : {1ms, 999ms, 61001ms, 86'400'000ms, 90'061'001ms}) {
    EXPECT_EQ(*parse_duration(show_duration(value)).value, value);
  }
}

TEST(size, every_unit_is_read) {
  EXPECT_EQ(*parse_size("512B").value, 512u);
  EXPECT_EQ(*parse_size("64KiB").value, 65536u);
  EXPECT_EQ(*parse_size("64Ki").value, 65536u);
  EXPECT_EQ(*parse_size("1MiB").value, 1048576u);
  EXPECT_EQ(*parse_size("1Mi").value, 1048576u);
  EXPECT_EQ(*parse_size("2GiB").value, std::size_t{2} << 30);
  EXPECT_EQ(*parse_size("1024Gi").value, std::size_t{1} << 40);
}

TEST(size, what_is_no_size_is_refused_with_its_reason) {
  const std::pair<const char*, const char*> cases[] = {
      {"64", "no unit"},        {"0", "no unit"},
      {"", "no size"},          {"KiB", "no size"},
      {"64KB", "unknown unit"}, {"64kib", "unknown unit"},
      {"1.5MiB", "no size"},    {"1MiB1KiB", "no size"},
      {"1025GiB", "too large"}, {"99999999999999999999B", "too large"}};
  for (const auto& [text, why] : cases) {
    const auto read = parse_size(text);
    EXPECT_FALSE(read) << text;
    EXPECT_NE(read.why.find(why), std::string::npos) << text << ": " << read.why;
  }
}

TEST(size, is_shown_in_the_largest_unit_that_divides_it) {
  EXPECT_EQ(show_size(60 * 1024), "60KiB");
  EXPECT_EQ(show_size(1025), "1025B");
  EXPECT_EQ(show_size(0), "0B");
}

}  // namespace
}  // namespace idem::config
