#include "idem/memory/block_pool.hpp"

#include <gtest/gtest.h>

#include <string>

namespace idem::memory {
namespace {

TEST(a_string_given_back, leaves_no_room_with_its_owner) {
  // one that the pool keeps, and one that is too large for it
  for (const std::size_t size : {std::size_t{1'000}, std::size_t{1'000'000}}) {
    std::string s(size, 'x');
    auto* const owners = &s;
    give_back_string(std::move(*owners));
    EXPECT_LT(owners->capacity(), size) << "its owner may live as long as a slow client reads";
  }
}

TEST(a_string_given_back, comes_again_empty_and_with_its_room) {
  give_back_string(std::string(1'000, 'x'));
  const auto s = take_string();
  EXPECT_EQ(s, "");
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  EXPECT_GE(s.capacity(), 1'000u);
#endif
}

}  // namespace
}  // namespace idem::memory
