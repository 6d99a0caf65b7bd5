#include "idem/idempotency/execution_times.hpp"

#include <algorithm>

namespace idem::idempotency {

void execution_times::add(std::chrono::milliseconds t) noexcept {
  const auto at = count_.fetch_add(1, std::memory_order_relaxed);
  last_[at % last_.size()].store(t.count(), std::memory_order_relaxed);
}

std::chrono::milliseconds execution_times::median() const noexcept {
  const auto n = std::min(count_.load(std::memory_order_relaxed), last_.size());
  if (n == 0) return before_the_first;
  std::array<std::int64_t, std::tuple_size_v<decltype(last_)>> seen{};
  for (std::size_t i = 0; i < n; ++i) seen[i] = last_[i].load(std::memory_order_relaxed);
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(seen.begin(), middle, seen.begin() + static_cast<std::ptrdiff_t>(n));
  return std::chrono::milliseconds(*middle);
}

}  // namespace idem::idempotency
