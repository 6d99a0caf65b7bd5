// A run: proxies, a store, a backend and clients, and what is done to them meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "faults/history.hpp"

namespace idem::test {

struct run_options {
  std::uint64_t seed = 1;
  std::chrono::seconds length{60};  ///< of the faults; starting, recovering and asking once more come on top
  std::vector<std::string> routes{"once", "waiting", "again"};
  std::size_t clients = 6;
  std::string binary;  ///< instead of the product
  bool faults = true;  ///< without: only clients and backend misbehave
};

/// Two proxies before one Redis, each with a relay between.
history run(const run_options& options);

/// IDEM_FAULTS_SEED, else one that is new with each call.
std::uint64_t seed_of_this_run();
/// IDEM_FAULTS_SECONDS, else `usual`.
std::chrono::seconds length_of_this_run(std::chrono::seconds usual);

}  // namespace idem::test
