#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

#include "idem/idempotency/record.hpp"

namespace idem::idempotency {
namespace {

TEST(owner, a_fresh_token_is_lower_case_hex) {
  const owner o = owner::fresh(7);
  EXPECT_EQ(o.attempt, 7);
  for (const char c : o.token) EXPECT_NE(std::string_view("0123456789abcdef").find(c), std::string_view::npos);
}

TEST(owner, no_token_comes_twice_on_one_or_several_threads) {
  std::set<std::string> seen;
  std::mutex mutex;
  const auto draw = [&] {
    for (int i = 0; i < 1000; ++i) {
      const std::string text = owner::fresh(1).text();
      const std::lock_guard lock(mutex);
      seen.insert(text);
    }
  };
  std::thread a(draw), b(draw);
  a.join();
  b.join();
  EXPECT_EQ(seen.size(), 2000u);
}

TEST(owner, another_attempt_is_another_owner) {
  owner a = owner::fresh(1), b = a;
  EXPECT_EQ(a, b);
  b.attempt = 2;
  EXPECT_NE(a, b);
  EXPECT_NE(a.text(), b.text());
}

}  // namespace
}  // namespace idem::idempotency
