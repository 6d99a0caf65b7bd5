#include "proxy/unfinished.hpp"

#include <gtest/gtest.h>

#include <future>

namespace idem::proxy {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST(unfinished, is_waited_for_until_the_last_has_ended_and_no_longer) {
  unfinished all;
  all.begin();
  all.begin();
  auto waiting = std::async(std::launch::async, [&] { return all.wait_until(steady_clock::now() + 1h); });
  all.end();
  EXPECT_EQ(waiting.wait_for(20ms), std::future_status::timeout) << "one is left";
  all.end();
  ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(waiting.get());
}

TEST(unfinished, is_not_waited_for_longer_than_it_may_take) {
  unfinished all;
  EXPECT_TRUE(all.wait_until(steady_clock::now())) << "nothing was begun";
  all.begin();
  EXPECT_FALSE(all.wait_until(steady_clock::now() + 1ms));
}

}  // namespace
}  // namespace idem::proxy
