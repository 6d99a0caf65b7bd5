#include "idem/text/base64.hpp"

#include <gtest/gtest.h>

#include <random>

namespace idem::text {
namespace {

TEST(base64_text, is_the_only_one_for_its_bytes) {
  const auto standard = [](std::string_view t) { return decode_base64(t, base64_alphabet::standard); };
  const auto url = [](std::string_view t) { return decode_base64(t, base64_alphabet::url); };
  EXPECT_EQ(standard("Zm9vYg=="), "foob");
  EXPECT_EQ(standard(""), "");
  EXPECT_EQ(url("Zm9vYg"), "foob");
  EXPECT_EQ(url("-_8"), "\xfb\xff");
  EXPECT_EQ(standard("+/8="), "\xfb\xff");
  for (const char* bad : {"Zm9vYg", "Zm9vYg=", "Zm9vYh==", "Zm9v====", "Zm 9", "-_8=", "Z===", "===="}) {
    EXPECT_FALSE(standard(bad)) << bad;
  }
  for (const char* bad : {"Zm9vYg==", "Zm9vYh", "+/8", "Z", "Zm9vY"}) EXPECT_FALSE(url(bad)) << bad;
}

TEST(base64_text, of_any_bytes_reads_back) {
  std::mt19937 random(7);
  for (std::size_t size = 0; size < 40; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    for (const auto alphabet : {base64_alphabet::standard, base64_alphabet::url}) {
      std::string text = "before";
      append_base64(text, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, alphabet);
      ASSERT_TRUE(text.starts_with("before"));
      EXPECT_EQ(decode_base64(std::string_view(text).substr(6), alphabet), bytes) << size;
    }
  }
}

}  // namespace
}  // namespace idem::text
