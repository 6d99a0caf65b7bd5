#include "proxy/settling_pace.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace idem::proxy {
namespace {

using namespace std::chrono_literals;

TEST(settling_pace, asks_a_store_that_is_away_or_refuses_every_second) {
  settling_pace p;
  std::vector<std::int64_t> rests;
  for (int i = 0; i < 6; ++i) rests.push_back(p.after_failure(false, 1).count());
  EXPECT_EQ(rests, (std::vector<std::int64_t>{200, 400, 800, 1000, 1000, 1000}));
  EXPECT_TRUE(p.gets_through());
}

TEST(settling_pace, asks_a_store_that_does_not_answer_less_and_less_often_down_to_once_in_a_minute) {
  settling_pace p;
  std::vector<std::int64_t> rests;
  for (int i = 0; i < 8; ++i) rests.push_back(p.after_failure(true, 1).count());
  EXPECT_EQ(rests, (std::vector<std::int64_t>{1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000}));
  EXPECT_EQ(p.after_failure(true, 0), 30s) << "chance keeps many from coming at once";
}

TEST(settling_pace, gives_up_what_had_no_reply_four_times_wherever_the_store_was_in_between) {
  settling_pace p;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(p.gets_through());
    p.after_failure(true, 1);
    p.after_failure(false, 1);
  }
  EXPECT_FALSE(p.gets_through());
}

}  // namespace
}  // namespace idem::proxy
