// What the process has begun and must see to its end: connections of clients, and what is owed to the store.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace idem::proxy {

/// Counts over all threads; a thread that stops the process waits until nothing is left. Must outlive both.
class unfinished {
 public:
  void begin() { count_.fetch_add(1, std::memory_order_relaxed); }
  void end() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    const std::lock_guard lock(lock_);  // whoever waits has seen the count before, or waits already
    none_.notify_all();
  }

  /// Until nothing is left, or that moment.
  /// @return whether nothing is left
  bool wait_until(std::chrono::steady_clock::time_point t) {
    std::unique_lock lock(lock_);
    return none_.wait_until(lock, t, [this] { return count_.load(std::memory_order_acquire) == 0; });
  }

 private:
  std::atomic<std::size_t> count_{0};
  std::mutex lock_;
  std::condition_variable none_;
};

}  // namespace idem::proxy
