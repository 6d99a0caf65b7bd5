#include "store/shard.hpp"

#include <gtest/gtest.h>

#include "idem/idempotency/identity.hpp"

namespace idem::store {
namespace {

TEST(shard, is_the_first_four_bits_of_the_hash) {
  EXPECT_EQ(shard_of("idem:{AAAA}"), '0');
  EXPECT_EQ(shard_of("idem:{DAAA}"), '0');
  EXPECT_EQ(shard_of("idem:{EAAA}"), '1');
  EXPECT_EQ(shard_of("idem:{ZAAA}"), '6');
  EXPECT_EQ(shard_of("idem:{aAAA}"), '6');
  EXPECT_EQ(shard_of("idem:{0AAA}"), 'd');
  EXPECT_EQ(shard_of("idem:{-AAA}"), 'f');
  EXPECT_EQ(shard_of("idem:{_AAA}"), 'f');
}

TEST(shard, of_a_name_without_a_hash_is_zero) {
  EXPECT_EQ(shard_of(""), '0');
  EXPECT_EQ(shard_of("idem:"), '0');
  EXPECT_EQ(shard_of("idem:{"), '0');
}

TEST(shard, does_not_mind_braces_in_the_prefix) { EXPECT_EQ(shard_of("{a}{EAAA}"), '1'); }

TEST(shard, of_a_record_is_in_its_name) {
  const auto name = idempotency::record_name("idem:{x}", "charges", {}, {{"header:Idempotency-Key", "abc"}});
  EXPECT_EQ(shard_of(name), '4') << name;  // the digest begins with 4d
}

TEST(wake_channel, is_the_prefix_w_and_the_shard) { EXPECT_EQ(wake_channel("idem:", 'c'), "idem:w:c"); }

}  // namespace
}  // namespace idem::store
