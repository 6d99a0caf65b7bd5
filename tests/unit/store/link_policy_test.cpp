#include "store/redis/link_policy.hpp"

#include <gtest/gtest.h>

namespace idem::store::redis {
namespace {

using namespace std::chrono_literals;
using admission = link_policy::admission;
using std::chrono::milliseconds;
using time_point = link_policy::time_point;

TEST(backoff, doubles_from_50_ms_to_2_s) {
  backoff b;
  std::vector<std::int64_t> delays;
  for (int i = 0; i < 8; ++i) delays.push_back(b.next(1).count());
  EXPECT_EQ(delays, (std::vector<std::int64_t>{50, 100, 200, 400, 800, 1600, 2000, 2000}));
  b.reset();
  EXPECT_EQ(b.next(0), 25ms);
}

TEST(link_policy, lets_commands_wait_for_the_first_connection) {
  link_policy p;
  EXPECT_EQ(p.admit(time_point{}), admission::connect);
  p.connecting();
  EXPECT_EQ(p.admit(time_point{}), admission::wait);
  p.ready();
  EXPECT_EQ(p.admit(time_point{}), admission::go);
}

TEST(link_policy, refuses_commands_just_after_a_failed_try_and_lets_a_later_one_probe) {
  link_policy p;
  p.connecting();
  EXPECT_GT(p.lost(time_point(1000ms), 0.5), 0ms);
  EXPECT_EQ(p.admit(time_point(1000ms)), admission::refuse);
  EXPECT_EQ(p.admit(time_point(1199ms)), admission::refuse);
  EXPECT_EQ(p.admit(time_point(1200ms)), admission::connect);
}

TEST(link_policy, does_not_wait_when_another_thread_has_found_the_store_back) {
  link_policy p;
  p.connecting();
  EXPECT_GT(p.lost(time_point(1000ms), 0.5), 0ms);
  EXPECT_EQ(p.admit(time_point(1050ms), time_point(990ms)), admission::refuse);
  EXPECT_EQ(p.admit(time_point(1050ms), time_point(1020ms)), admission::connect);
}

TEST(link_policy, tries_again_at_once_after_losing_a_connection_that_was_of_use) {
  link_policy p;
  for (int i = 0; i < 3; ++i) {
    p.connecting();
    p.ready();
    p.proved();
    EXPECT_EQ(p.lost(time_point{}, 1), 0ms);
  }
}

TEST(link_policy, rests_longer_and_longer_when_connections_are_made_and_are_of_no_use) {
  link_policy p;
  p.connecting();
  p.ready();
  EXPECT_EQ(p.lost(time_point{}, 1), 0ms);
  auto before = 0ms;
  for (int i = 0; i < 5; ++i) {
    p.connecting();
    p.ready();
    const auto rest = p.lost(time_point{}, 1);
    EXPECT_GT(rest, before);
    before = rest;
  }
}

TEST(link_policy, tries_again_at_once_after_a_first_denial_and_rests_longer_and_longer_after_the_next) {
  link_policy p;
  const auto lose = [&](milliseconds now) {
    p.connecting();
    p.ready();
    p.proved();
    p.denied(time_point(now));
    return p.lost(time_point(now), 1);
  };
  EXPECT_EQ(lose(1000ms), 0ms);
  auto before = 0ms;
  for (auto now = 1100ms; now < 1700ms; now += 100ms) {
    const auto rest = lose(now);
    EXPECT_GT(rest, before) << "however useful it was up to then";
    before = rest;
  }
  EXPECT_EQ(lose(1600ms + link_policy::denial_interval), 0ms);
}

TEST(link_policy, admits_nothing_when_closed) {
  link_policy p;
  p.connecting();
  p.close();
  EXPECT_EQ(p.admit(time_point(1h)), admission::refuse);
}

}  // namespace
}  // namespace idem::store::redis
