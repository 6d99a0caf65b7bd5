// A signal that one coroutine waits for, set by a completion or by another coroutine of the same thread.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <utility>

#include "idem/net/callback.hpp"
#include "idem/net/types.hpp"

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
  auto wait() {
    return asio::async_initiate<const asio::deferred_t, void()>(
        [this](auto handler) { waiter_ = [h = std::move(handler)]() mutable { std::move(h)(); }; }, asio::deferred);
  }

 private:
  bool set_ = false;
  callback<void()> waiter_;
};

}  // namespace idem::net
