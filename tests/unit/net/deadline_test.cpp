#include "idem/net/deadline.hpp"

#include <gtest/gtest.h>

#include "idem/net/event.hpp"

namespace {

using namespace idem::net;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

struct wheel_test : testing::Test {
  asio::io_context io{1};
  deadline_wheel wheel{io};
};
using a_deadline = wheel_test;

TEST_F(a_deadline, fires_once_not_before_its_time) {
  int fired = 0;
  deadline d(wheel, [&] { ++fired; });
  const auto start = clock_type::now();
  d.after(120ms);
  io.run();
  EXPECT_EQ(fired, 1);
  EXPECT_GE(clock_type::now() - start, 120ms);
  EXPECT_LE(clock_type::now() - start, 1s);
}

TEST_F(a_deadline, that_is_cleared_does_not_fire) {
  int fired = 0;
  deadline d(wheel, [&] { ++fired; });
  d.after(60ms);
  d.clear();
  io.run();
  EXPECT_EQ(fired, 0);
}

TEST_F(a_deadline, can_move_further_away_and_nearer) {
  std::vector<int> order;
  deadline first(wheel, [&] { order.push_back(1); });
  deadline second(wheel, [&] { order.push_back(2); });
  first.after(60ms);
  second.after(10s);
  first.after(400ms);
  second.after(150ms);
  io.run();
  EXPECT_EQ(order, (std::vector{2, 1}));
}

TEST_F(a_deadline, may_arm_itself_again_and_destroy_others_in_its_action) {
  int fired = 0;
  auto other = std::make_unique<deadline>(wheel, [&] { fired += 100; });
  deadline d(wheel);
  d.action([&] {
    other.reset();
    if (++fired < 3) d.after(50ms);
  });
  d.after(50ms);
  other->after(50ms);
  deadline same_slot(wheel, [&] { other.reset(); });
  same_slot.after(50ms);
  io.run();
  EXPECT_EQ(fired % 100, 3);
}

TEST_F(a_deadline, further_away_than_the_wheel_is_kept_until_its_time) {
  int fired = 0;
  deadline far(wheel, [&] { ++fired; });
  far.after(10h);
  deadline near(wheel, [&] { wheel.stop(); });
  near.after(50ms);
  io.run();
  EXPECT_EQ(fired, 0);
  EXPECT_TRUE(far.armed());
}

task<void> waits(event& e, int& step) {
  step = 1;
  if (!e.is_set()) co_await e.wait();
  step = 2;
}

TEST(an_event, resumes_its_waiter_at_once) {
  asio::io_context io{1};
  event e;
  int step = 0;
  spawn(io.get_executor(), waits(e, step));
  io.poll();
  EXPECT_EQ(step, 1);
  e.set();
  EXPECT_EQ(step, 2);
}

}  // namespace
