// A wait for some time that somebody else can end early.
#pragma once

#include <chrono>

#include "idem/net/deadline.hpp"
#include "idem/net/event.hpp"

namespace idem::net {

/// Exact to a tick of the wheel. One waiter at a time, which it must outlive; used on the wheel's thread.
class pause {
 public:
  explicit pause(deadline_wheel& wheel) : limit_(wheel, [this] { over_.set(); }) {}

  /// `co_await p.wait(t)`: until t has passed, or wake() is called.
  auto wait(std::chrono::milliseconds t) {
    over_.reset();
    limit_.after(t);
    return over_.wait();
  }
  /// Ends the wait that is under way, and resumes its waiter on the spot. Without one it does nothing.
  void wake() {
    limit_.clear();
    over_.set();
  }

 private:
  deadline limit_;
  event over_;
};

}  // namespace idem::net
