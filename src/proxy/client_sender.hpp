// Sends an answer to a client without ever making the producer wait: what the client does not take yet is kept.
//
// The capture of a claimed answer goes on at the backend's pace; the client's pace matters only when the owner asks for
// it (`drained`), past what can be stored. A client that takes nothing for body_idle counts as gone.
#pragma once

#include <string>
#include <string_view>

#include "idem/net/deadline.hpp"
#include "idem/net/event.hpp"
#include "proxy/client_connection.hpp"

namespace idem::proxy {

class client_sender {
 public:
  explicit client_sender(client_connection& c);

  void send(std::string_view bytes);
  struct drain {
    client_sender& of;
    bool await_ready() const noexcept { return !of.writing_; }
    template <std::derived_from<net::frame> P>
    void await_suspend(std::coroutine_handle<P> who) {
      of.drained_.wait().await_suspend(who);
    }
    void await_resume() const noexcept {}
  };
  /// `co_await s.drained()`: everything that was sent has left, or the client is gone. Needs no memory. One waiter.
  drain drained() { return {*this}; }
  /// What has not left yet.
  std::size_t pending() const { return c_.gone ? 0 : active_.size() - offset_ + queued_.size(); }
  bool gone() const { return c_.gone; }
  /// The client is not served any more: its connection is reset.
  void abort();

 private:
  void pump();
  void write();

  client_connection& c_;
  std::string active_;  ///< being written; must not move
  std::string queued_;
  std::size_t offset_ = 0;
  bool writing_ = false;
  net::event drained_;
};

}  // namespace idem::proxy
