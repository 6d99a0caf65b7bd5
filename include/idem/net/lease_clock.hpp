// The clock by which an owner judges its own lease.
#pragma once

#include <chrono>
#include <ctime>

namespace idem::net {

/// Time that goes on while the machine sleeps (CLOCK_BOOTTIME): a lease must not be trusted after a suspension
/// (docs/protocol.md, "Before the first byte is sent").
struct lease_clock {
  using rep = std::chrono::milliseconds::rep;
  using period = std::chrono::milliseconds::period;
  using duration = std::chrono::milliseconds;
  using time_point = std::chrono::time_point<lease_clock, duration>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept {
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return time_point(
        std::chrono::duration_cast<duration>(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec)));
  }
};

}  // namespace idem::net
