// A configuration as it is in force: what presets, defaults and sums have come to.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "idem/config/config.hpp"

namespace idem::config {

/// The routes as YAML, every key of theirs with its value, `preset` expanded: text that loads again and means the same.
/// Names of files are shown, what is in them never.
std::string show_routes(const snapshot& config);

/// The times of a route for which records live, one line: `lease 15s, retention 24h, hold 24h`.
std::string show_times(const idempotency_config& route);

/// What a route's records take when `per_second` new keys come all the time.
struct store_size {
  std::uint64_t records = 0;
  std::uint64_t typical = 0;  ///< bytes, with answers of `typical_answer`
  std::uint64_t largest = 0;  ///< bytes, with answers of max_stored_body
};
inline constexpr std::size_t typical_answer = 1024;  ///< bytes
/// Bytes: name, first line, header lines, and what a store keeps for each entry; an estimate.
inline constexpr std::size_t record_overhead = 640;
/// @param per_second new keys
store_size estimate(const idempotency_config& route, double per_second);

/// `1.5 GiB`: for people, rounded.
std::string show_bytes(std::uint64_t bytes);

}  // namespace idem::config
