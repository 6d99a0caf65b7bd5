// How long what is owed to the store rests between its tries. Pure: chance is handed in.
#pragma once

#include <algorithm>
#include <chrono>

namespace idem::proxy {

/// A store that is away or refuses costs nothing to ask: 100 ms, doubling to a second. A try that was sent and had no
/// reply has cost all others of the thread their connection, and if it was too large to be written in time it will do
/// so each time: from a second, doubling to a minute, cut by chance to between half and the whole.
class settling_pace {
 public:
  using milliseconds = std::chrono::milliseconds;
  static constexpr milliseconds shortest{100}, longest{1000}, longest_unanswered{60'000};

  /// How long to rest after a try that failed.
  /// @param unanswered it was sent and had no reply
  /// @param chance 0 … 1
  milliseconds after_failure(bool unanswered, double chance) {
    if (!unanswered) return rest_ = std::min(rest_ * 2, longest);
    const auto full = unanswered_rest_;
    unanswered_rest_ = std::min(full * 2, longest_unanswered);
    ++unanswered_;
    return milliseconds(static_cast<milliseconds::rep>(static_cast<double>(full.count()) * (0.5 + chance / 2)));
  }

  /// False: so many tries had no reply that one more of the same is not expected to have one.
  bool gets_through() const { return unanswered_ < 4; }

 private:
  milliseconds rest_ = shortest, unanswered_rest_{1000};
  unsigned unanswered_ = 0;
};

}  // namespace idem::proxy
