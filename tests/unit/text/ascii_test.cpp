#include "idem/text/ascii.hpp"

#include <gtest/gtest.h>

#include "idem/text/authority.hpp"
#include "idem/text/split.hpp"

namespace idem::text {
namespace {

TEST(ascii, case_folding_touches_letters_only) {
  EXPECT_TRUE(iequals("aZ-9", "Az-9"));
  EXPECT_FALSE(iequals("a[b", "a{b"));
  EXPECT_FALSE(iequals("a@b", "a`b"));
  EXPECT_FALSE(iequals("te\r", "te-"));
  EXPECT_FALSE(iequals("a", "aa"));
  EXPECT_TRUE(iequals("", ""));
}

TEST(ascii, what_is_no_ascii_is_of_no_class) {
  for (unsigned byte = 0x80; byte < 0x100; ++byte) {
    const char c = static_cast<char>(byte);
    EXPECT_FALSE(is_alnum(c) || is_visible(c) || is_control(c)) << byte;
    EXPECT_EQ(to_lower(c), c) << byte;
  }
}

TEST(ascii, beginnings_and_ends_are_found_without_case) {
  EXPECT_TRUE(istarts_with("MULTIPART/mixed", "multipart/"));
  EXPECT_FALSE(istarts_with("multi", "multipart/"));
  EXPECT_TRUE(iends_with("application/x+JSON", "+json"));
  EXPECT_FALSE(iends_with("json", "+json"));
}

TEST(split, a_separator_at_the_end_leaves_no_empty_part) {
  std::string_view rest = "a,,b,";
  EXPECT_EQ(take_part(rest, ','), "a");
  EXPECT_EQ(take_part(rest, ','), "");
  EXPECT_EQ(take_part(rest, ','), "b");
  EXPECT_EQ(rest, "");
}

TEST(host_of_an_authority, has_neither_port_nor_the_dot_of_the_root) {
  EXPECT_EQ(host_of("Example.com"), "Example.com");
  EXPECT_EQ(host_of("example.com:8080"), "example.com");
  EXPECT_EQ(host_of("example.com.:8080"), "example.com");
  EXPECT_EQ(host_of("example.com:"), "example.com");
  EXPECT_EQ(host_of("[2001:db8::1]:80"), "[2001:db8::1]");
  EXPECT_EQ(host_of("[2001:db8::1]"), "[2001:db8::1]");
  EXPECT_EQ(host_of(""), "");
}

}  // namespace
}  // namespace idem::text
