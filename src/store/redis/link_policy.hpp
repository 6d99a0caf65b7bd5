// When to connect, when to wait, and what a command may expect meanwhile. Pure: times and chance are handed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace idem::store::redis {

/// Doubling delays from 50 ms to 2 s, each cut by chance to between half and the whole, so that many processes do not
/// come back at once.
class backoff {
 public:
  using milliseconds = std::chrono::milliseconds;
  static constexpr milliseconds first{50}, last{2000};

  /// @param chance 0 … 1
  milliseconds next(double chance);
  void reset() { delay_ = first; }

 private:
  milliseconds delay_ = first;
};

class link_policy {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using milliseconds = std::chrono::milliseconds;

  enum class phase : std::uint8_t { resting, connecting, ready, closed };
  enum class admission : std::uint8_t {
    go,       ///< connected: send
    wait,     ///< a connection is being made: wait for it
    connect,  ///< resting for long enough: connect now, and wait
    refuse    ///< the last try failed just now, or the session is closed
  };

  /// A real command probes a store that was gone, but not more often than this.
  static constexpr milliseconds probe_interval{200};
  /// Only the first denial within this time is followed by a try at once.
  static constexpr milliseconds denial_interval{10'000};

  phase where() const { return phase_; }

  /// @param elsewhere when another connection of this process to the same store was last made: if that is after our
  ///        last failure, the store is back, and there is nothing to wait for
  admission admit(time_point now, time_point elsewhere = {}) const;
  void connecting() { phase_ = phase::connecting; }
  void ready() { phase_ = phase::ready; }
  /// The connection was of use: the next loss may be followed by a try at once.
  void proved() { useful_ = true; }
  /// The server denied what is needed, and the connection is about to be given up for that. The next one finds out anew
  /// what the server allows, and is made at once; but a server that goes on denying is left in peace like one that is
  /// away, however useful each connection was up to then.
  void denied(time_point now);
  /// A try failed or a connection ended. Returns how long to rest before the next try.
  milliseconds lost(time_point now, double chance);
  void close() { phase_ = phase::closed; }

 private:
  phase phase_ = phase::resting;
  backoff backoff_;
  bool useful_ = true;  // nothing is known against the first try
  bool rested_ = false;
  time_point resting_since_{};
  std::optional<time_point> denied_at_;
};

}  // namespace idem::store::redis
