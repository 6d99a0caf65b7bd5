// The proof: what clients, backend and store saw while processes died and slept and replies were lost is a history in
// which every promise of docs/protocol.md was kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "faults/chaos.hpp"
#include "faults/checker.hpp"

namespace idem::test {
namespace {

using namespace std::chrono_literals;

/// Everything that is needed to understand a violation, since another run may not show it.
std::string keep(const history& h, std::uint64_t seed) {
  const auto file = std::filesystem::temp_directory_path() / ("idem-faults-" + std::to_string(seed) + ".log");
  std::ofstream out(file);
  for (const auto& log : h.logs) out << log << "\n----\n";
  return file.string();
}

void expect_all_promises_kept(const history& h, std::uint64_t seed) {
  std::cout << summary_of(h);
  const auto found = check(h);
  EXPECT_TRUE(found.empty()) << "seed " << seed << ", logs in " << keep(h, seed) << "\n" << report(h, found);
  // a run in which little happened proves little
  EXPECT_GT(h.executions.size(), 10u);
  EXPECT_TRUE(std::any_of(h.attempts.begin(), h.attempts.end(), [](const auto& a) { return is_replay(a.answer); }));
  EXPECT_FALSE(h.after_owners_died.empty());
  EXPECT_FALSE(h.at_the_end.empty());
}

TEST(a_history, of_every_guarantee_under_all_faults_keeps_all_promises) {
  run_options o;
  o.seed = seed_of_this_run();
  o.length = length_of_this_run(60s);
  expect_all_promises_kept(run(o), o.seed);
}

TEST(a_history, of_at_least_once_routes_never_lets_an_old_owner_overwrite_a_newer_record) {
  run_options o;
  o.seed = seed_of_this_run();
  o.length = length_of_this_run(30s);
  o.routes = {"again"};
  const auto h = run(o);
  expect_all_promises_kept(h, o.seed);
  EXPECT_TRUE(std::any_of(h.sightings.begin(), h.sightings.end(), [](const auto& s) {
    return s.prefix.size() > 9 && s.prefix.compare(5, 4, "0001") > 0;
  })) << "nothing was ever taken over";
}

}  // namespace
}  // namespace idem::test
