#include "idempotency/zstd_body.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

namespace idem::idempotency {
namespace {

std::string pack(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

TEST(zstd_body, unpacks_what_was_packed) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{131072}, std::size_t{1000003}}) {
    std::string text(size, 'a');
    for (std::size_t i = 0; i < size; i += 7) text[i] = static_cast<char>(i);
    std::string out;
    ASSERT_TRUE(unpack_zstd(pack(text), out)) << size;
    EXPECT_EQ(out, text);
  }
}

TEST(zstd_body, an_early_end_and_bytes_behind_the_frame_are_refused) {
  const std::string packed = pack(std::string(300000, 'x') + "end");
  for (std::size_t n = 0; n < packed.size(); ++n) {
    std::string out;
    EXPECT_FALSE(unpack_zstd(std::string_view(packed).substr(0, n), out)) << n;
  }
  std::string out;
  EXPECT_FALSE(unpack_zstd(packed + "x", out));
}

TEST(zstd_body, a_body_that_unpacks_to_more_than_the_bound_is_refused) {
  std::string out;
  EXPECT_TRUE(unpack_zstd(pack(std::string(max_unpacked_body, 'x')), out));
  out.clear();
  EXPECT_FALSE(unpack_zstd(pack(std::string(max_unpacked_body + 1, 'x')), out));
}

}  // namespace
}  // namespace idem::idempotency
