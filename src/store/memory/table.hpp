// Records of one process in sixteen locked parts. Exact by the lease clock, bounded in bytes, and closed when full: a
// record that lives is never evicted for another, because that would allow a second execution.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "idem/net/types.hpp"
#include "idem/store/store.hpp"
#include "store/transition.hpp"

namespace idem::store::memory {

/// Thread-safe. Each operation holds one part's lock.
class table {
 public:
  using time_point = net::lease_clock::time_point;

  /// @param max_bytes bound of names, values and `record_overhead` for each record
  explicit table(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Performs a command at the time `now`. Never `unavailable`.
  reply run(const command& c, time_point now);

  /// False from a refused write until a write succeeds.
  bool writable() const { return writable_.load(std::memory_order_relaxed); }

  std::size_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  std::size_t size() const;

  /// What a record costs beside its name and value: two index nodes, two string headers, allocator slack.
  static constexpr std::size_t record_overhead = 256;

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>{}(s); }
  };
  struct entry;
  using entries = std::unordered_map<std::string, entry, hash, std::equal_to<>>;
  // by end of life; the names are the keys of `entries`, whose nodes do not move
  using calendar = std::multimap<time_point, std::string_view>;
  struct entry {
    std::string value;
    calendar::iterator expiry;
  };
  struct part {
    mutable std::mutex lock;
    entries records;
    calendar expiries;
  };

  bool try_run(const command& c, time_point now, reply& r);
  bool apply(part& p, entries::iterator at, const command& c, write_kind write, time_point now);
  bool put(part& p, entries::iterator at, const command& c, time_point now);
  static void extend(part& p, entries::iterator at, time_point until);
  void erase(part& p, entries::iterator at);
  void sweep(part& p, time_point now, std::size_t limit);
  void sweep_all(time_point now);
  bool charge(std::size_t bytes);

  const std::size_t max_bytes_;
  std::atomic<std::size_t> used_{0};
  std::atomic<bool> writable_{true};
  std::array<part, 16> parts_;
};

}  // namespace idem::store::memory
