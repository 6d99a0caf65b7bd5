// The queue between the threads that log and the one that writes.
//
// A caller pays for one move into a vector below a mutex that is never held during formatting or output. The writer
// sleeps until a line comes, gathers what comes within 50 ms, and takes the vector as a whole. When output is slower
// than input for long, lines are given up, access lines first, and counted; no caller ever waits for the output.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "telemetry/log_line.hpp"

namespace idem::telemetry {

using log_entry = std::variant<access_entry, event_entry>;

class log_queue {
 public:
  static constexpr std::size_t access_room = 16 * 1024;              ///< entries; past it access lines are dropped
  static constexpr std::size_t event_room = access_room + 4 * 1024;  ///< past it everything is
  static constexpr std::size_t wake_early = 4 * 1024;                ///< entries that end the gathering
  static constexpr auto gather = std::chrono::milliseconds(50);

  /// Takes entries in their order; `dropped` were given up before them. Called without the mutex, from the queue's
  /// thread.
  using writer = std::function<void(const std::vector<log_entry>& entries, std::uint64_t dropped)>;

  explicit log_queue(writer to) : write_(std::move(to)) {}

  void start();
  /// Writes what is queued and ends the thread. False when that took longer than `limit`: the thread is left to itself
  /// then, and refers to this object for as long as the output holds it up.
  bool stop(std::chrono::milliseconds limit);

  /// False if the queue does not run (any more); the entry is untouched then. An entry that is dropped was taken.
  bool push(log_entry&& e);

 private:
  void run();

  const writer write_;
  std::mutex mutex_;
  std::condition_variable came_, ended_;
  std::vector<log_entry> entries_;
  std::uint64_t dropped_ = 0;
  bool running_ = false, stopping_ = false, finished_ = false;
  std::thread thread_;
};

/// Lines given up since the process began.
std::uint64_t dropped_log_lines();

}  // namespace idem::telemetry
