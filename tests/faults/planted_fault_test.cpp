// A proof is worth what it would find: the same run with a proxy that releases a key when a call fails.
#include <gtest/gtest.h>

#include "faults/chaos.hpp"
#include "faults/checker.hpp"

namespace idem::test {
namespace {

TEST(a_planted_fault, that_releases_keys_of_failed_calls_is_found_as_a_second_execution) {
  run_options o;
  o.seed = seed_of_this_run();
  o.length = std::chrono::seconds(6);
  o.routes = {"once"};
  o.faults = false;  // backends that reset after executing, and clients that try again, are enough
  o.binary = IDEM_PLANTED_BINARY;
  const auto h = run(o);
  EXPECT_TRUE(violates(check(h), 1)) << summary_of(h);
  o.binary.clear();
  const auto sound = run(o);
  const auto found = check(sound);
  EXPECT_TRUE(found.empty()) << "the product itself\n" << report(sound, found);
}

}  // namespace
}  // namespace idem::test
