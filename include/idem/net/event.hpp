// A signal that one coroutine waits for, set by a completion or by another coroutine of the same thread.
#pragma once

#include <utility>

#include "idem/net/callback.hpp"
#include "idem/net/task.hpp"

namespace idem::net {

/// Manual reset. At most one waiter. set() resumes the waiter at once, on the setter's stack: do nothing after it that
/// relies on the waiter's objects. Must outlive the waiter.
class event {
 public:
  bool is_set() const { return set_; }

  void set() {
    set_ = true;
    if (auto waiter = std::exchange(waiter_, nullptr)) waiter();
  }
  void reset() { set_ = false; }

  /// `co_await e.wait()`; ask is_set() first, since waiting for a set event would never be resumed.
  auto wait() { return waiting{*this}; }

 private:
  struct waiting {
    event& for_what;
    bool await_ready() const noexcept { return false; }
    template <std::derived_from<frame> P>
    void await_suspend(std::coroutine_handle<P> who) {
      for_what.waiter_ = resumption(who.promise());
    }
    void await_resume() const noexcept {}
  };

  bool set_ = false;
  callback<void()> waiter_;
};

}  // namespace idem::net
