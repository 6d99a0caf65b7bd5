// Coarse deadlines: one timer for a thread, however many connections it has.
//
// A timer object for each operation costs more than the operation. Deadlines here are exact to one tick (50 ms), late
// rather than early, and moving one further into the future, which each request does several times, is one store.
#pragma once

#include <array>
#include <chrono>

#include "idem/net/callback.hpp"
#include "idem/net/types.hpp"

namespace idem::net {

class deadline_wheel;

/// Something that happens if it is not moved or cleared in time. Not thread-safe; belongs to its wheel's thread. The
/// callback may arm, clear or destroy deadlines, its own included.
class deadline {
 public:
  using clock = std::chrono::steady_clock;

  explicit deadline(deadline_wheel& wheel, callback<void()> action = nullptr)
      : wheel_(wheel), action_(std::move(action)) {}
  ~deadline() { unlink(); }
  deadline(const deadline&) = delete;
  deadline& operator=(const deadline&) = delete;

  /// What happens, from now on.
  void action(callback<void()> a) { action_ = std::move(a); }
  /// Arms it, or moves it. It acts once, and is not armed then.
  void after(std::chrono::milliseconds t);
  void at(clock::time_point t);
  void clear() { armed_ = false; }
  bool armed() const { return armed_; }

 private:
  friend class deadline_wheel;
  void unlink();

  deadline_wheel& wheel_;
  callback<void()> action_;
  clock::time_point at_{};
  clock::time_point slot_at_{};  ///< when its slot is looked at
  deadline* next_ = nullptr;
  deadline** link_ = nullptr;  ///< the pointer that points here; null = in no slot
  bool armed_ = false;
};

/// The deadlines of a thread, which is that of `io`. One that is armed when the wheel goes never acts.
class deadline_wheel {
 public:
  static constexpr std::chrono::milliseconds tick{50};
  static constexpr std::size_t slots = 1024;

  explicit deadline_wheel(asio::io_context& io);
  ~deadline_wheel();
  deadline_wheel(const deadline_wheel&) = delete;
  deadline_wheel& operator=(const deadline_wheel&) = delete;

  /// No deadline acts any more, and the io_context has no work for them: for the end of a thread.
  void stop();

 private:
  friend class deadline;
  void insert(deadline& d);
  void run();
  void on_tick();

  timer timer_;
  std::array<deadline*, slots> wheel_{};
  deadline::clock::time_point start_;
  std::int64_t done_ = 0;  ///< ticks whose slots were looked at
  std::size_t linked_ = 0;
  bool running_ = false;
  bool stopped_ = false;
};

}  // namespace idem::net
