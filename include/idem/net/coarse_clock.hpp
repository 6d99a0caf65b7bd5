// The time to the last tick of the kernel, for what needs no better: an eighth of what the exact time costs.
#pragma once

#include <chrono>
#include <ctime>

namespace idem::net {

/// steady_clock's time, as of the last tick: up to coarse_resolution() early, never late.
inline std::chrono::steady_clock::time_point coarse_now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::chrono::steady_clock::time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

/// system_clock's time, as of the last tick.
inline std::chrono::system_clock::time_point coarse_wall_now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &t);
  return std::chrono::system_clock::time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

/// A tick: 1 to 10 ms, as the kernel was built.
inline std::chrono::nanoseconds coarse_resolution() noexcept {
  static const std::chrono::nanoseconds tick = [] {
    timespec t{};
    ::clock_getres(CLOCK_MONOTONIC_COARSE, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  }();
  return tick;
}

}  // namespace idem::net
