// A coroutine beside its owner's, on objects of the owner's.
#pragma once

#include <utility>

#include "idem/net/callback.hpp"
#include "idem/net/event.hpp"
#include "idem/net/task.hpp"

namespace idem::net {

/// Whoever starts one must wait for its end before he ends himself, in whatever way: also when something throws. One at
/// a time, on its owner's thread; the companion itself belongs to what must outlive the coroutine.
class companion {
 public:
  companion() = default;
  companion(const companion&) = delete;
  companion& operator=(const companion&) = delete;

  /// Begins `t` at once. Throws only if there is no memory to begin it: then nothing runs.
  /// @param failed called when `t` ends by an exception, so that nobody waits for what it cannot do any more; must not
  ///        throw. Then it has ended as well
  void start(executor ex, task<void> t, callback<void()> failed) {
    failed_ = std::move(failed);
    spawned::run(ex, watched(*this, std::move(t)), [](const std::exception_ptr&) {});
  }
  bool running() const { return running_; }

  struct end {
    companion& of;
    bool await_ready() const noexcept { return !of.running_; }
    template <std::derived_from<frame> P>
    void await_suspend(std::coroutine_handle<P> who) {
      of.ended_.wait().await_suspend(who);
    }
    void await_resume() const noexcept {}
  };
  /// `co_await c.ended()`: at once if nothing runs. Needs no memory. One waiter.
  end ended() { return {*this}; }

 private:
  static task<void> watched(companion& c, task<void> t) {
    c.running_ = true;
    try {
      co_await t;
    } catch (...) {
      c.failed_();
    }
    c.running_ = false;
    c.ended_.set();  // the waiter may destroy the companion
  }

  callback<void()> failed_;
  event ended_;
  bool running_ = false;
};

}  // namespace idem::net
