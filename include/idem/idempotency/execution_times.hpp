// How long the calls of a route take of late, which Retry-After goes by (docs/protocol.md, "Retry-After").
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace idem::idempotency {

/// The last fifteen. All threads of a process add to one and ask it; each sees what the others added a moment ago.
class execution_times {
 public:
  /// Where no call has ended yet.
  static constexpr std::chrono::milliseconds before_the_first{1000};

  void add(std::chrono::milliseconds t) noexcept;
  /// Of those that there are; before_the_first without any.
  std::chrono::milliseconds median() const noexcept;

 private:
  std::array<std::atomic<std::int64_t>, 15> last_{};  ///< milliseconds
  std::atomic<std::size_t> count_{0};
};

}  // namespace idem::idempotency
