#include "idem/idempotency/execution_times.hpp"

#include <gtest/gtest.h>

namespace idem::idempotency {
namespace {

using namespace std::chrono_literals;

TEST(execution_times, are_a_second_before_the_first_call_has_ended) { EXPECT_EQ(execution_times().median(), 1000ms); }

TEST(execution_times, are_those_of_a_single_call_at_once) {
  execution_times t;
  t.add(2600ms);
  EXPECT_EQ(t.median(), 2600ms);
}

TEST(execution_times, are_not_moved_by_a_few_slow_calls) {
  execution_times t;
  for (int i = 0; i < 8; ++i) t.add(20ms);
  for (int i = 0; i < 7; ++i) t.add(9000ms);
  EXPECT_EQ(t.median(), 20ms);
}

TEST(execution_times, follow_the_last_fifteen) {
  execution_times t;
  for (int i = 0; i < 100; ++i) t.add(9000ms);
  for (int i = 0; i < 15; ++i) t.add(i % 2 == 0 ? 20ms : 30ms);
  EXPECT_EQ(t.median(), 20ms);
}

}  // namespace
}  // namespace idem::idempotency
