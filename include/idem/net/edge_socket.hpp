// A socket that waits for the first bytes of a message without asking the kernel for them in vain.
//
// Asio tries each read at once and waits only when that fails. Between two messages it always fails, since the peer has
// its turn, and a system call costs more than anything else that a small request needs. Linux tells with the bytes of a
// read whether any are left (tcp(7), TCP_INQ): if none are, the next ones come with an event of their own, and Asio's
// reactor is told so by the status that it has for this. Sockets that cannot tell (unix ones) read as Asio does.
//
// It uses the reactor of Boost 1.81 below its public interface: reads here are operations of our own in its queues.
#pragma once

#include <boost/asio/detail/reactor.hpp>
#include <boost/asio/detail/reactor_op.hpp>

#include <memory>
#include <new>
#include <utility>

#include "idem/memory/block_pool.hpp"
#include "idem/net/types.hpp"

namespace idem::net {

class edge_socket : public socket {
 public:
  enum class expect {
    message,  ///< nothing is owed: the peer speaks when it likes
    rest      ///< a message has begun. What ended the connection may have come with its first part: looks at once
  };

  explicit edge_socket(socket&& s)
      : socket(std::move(s)),
        reactor_(asio::use_service<asio::detail::reactor>(asio::query(get_executor(), asio::execution::context))) {}
  ~edge_socket() { forget_watch(); }
  edge_socket(const edge_socket&) = delete;
  edge_socket& operator=(const edge_socket&) = delete;

  /// handler(error_code, bytes), later on this thread, never from inside of this call. One read at a time; cancel() and
  /// close() end it with operation_aborted.
  template <class Handler>
  void async_read(asio::mutable_buffer b, expect what, Handler handler) {
    start(make<read_op<Handler>>(*this, b, std::move(handler)), what);
  }

  /// co_await → tuple(error_code, bytes)
  auto read(asio::mutable_buffer b, expect what) {
    return asio::async_initiate<decltype(as_result), void(error_code, std::size_t)>(
        [this, b, what](auto handler) { async_read(b, what, std::move(handler)); }, as_result);
  }

  /// Until the next read: handler(error_code) when anything comes, the peer's end included, and nothing of it is taken
  /// but a reset's error. A reset that came together with the last bytes before is not told: sending finds it. cancel()
  /// ends the watch. To be started after a read that left nothing.
  template <class Handler>
  void async_watch(Handler handler) {
    withdraw_watch();
    disturbed_ = false;
    auto* const w = make<watch_op<Handler>>(*this, std::move(handler));
    watch_ = w;
    start(w, expect::message);
  }
  /// Ends a watch that was not disturbed, for a read that follows: what comes from now on is that read's. The handler
  /// is not called while the socket is open, but with operation_aborted at its close, cancel() or next watch, if no
  /// read followed. For reads through this class only; Asio's own would wait behind it.
  void end_watch() {
    if (watch_) watch_->ended = true;
  }
  /// Something came since the watch began, whether its handler has run or not.
  bool disturbed() const { return disturbed_; }
  /// Nothing to read, no end, no error: one look at the kernel, which takes the error if there is one.
  bool quiet();
  /// The last read took all that had come, and the peer had not ended.
  bool drained() const { return drained_; }

 private:
  using reactor = asio::detail::reactor;
  using operation = asio::detail::operation;

  struct op : asio::detail::reactor_op {
    using status = asio::detail::reactor_op::status;
    op(edge_socket& s, perform_func_type perform, func_type complete)
        : reactor_op(error_code(), perform, complete), from(s) {}
    edge_socket& from;
    bool tried = false;  ///< just now, with no result: the reactor need not try again
  };

  template <class Handler>
  struct read_op : op {
    read_op(edge_socket& s, asio::mutable_buffer b, Handler&& h)
        : op(s, &read_op::attempt, &read_op::complete), into(b), handler(std::move(h)) {}

    static op::status attempt(asio::detail::reactor_op* base) {
      auto& self = *static_cast<read_op*>(base);
      return self.tried ? op::not_done : self.from.receive(self.into, self.ec_, self.bytes_transferred_);
    }
    static void complete(void* owner, operation* base, const error_code&, std::size_t) {
      auto* self = static_cast<read_op*>(base);
      auto h = std::move(self->handler);
      const auto ec = self->ec_;
      const auto n = self->bytes_transferred_;
      dispose(self);
      if (owner) std::move(h)(ec, n);
    }
    asio::mutable_buffer into;
    Handler handler;
  };

  /// A watch that was ended keeps its place in the reactor's queue, and the next read takes it over: to have it
  /// cancelled costs a turn of the loop, which with little to do is a call to the kernel.
  struct any_watch : op {
    any_watch(edge_socket& s, op::func_type complete) : op(s, &any_watch::attempt, complete), watched(&s) {
      cancellation_key_ = this;
    }
    static op::status attempt(asio::detail::reactor_op* base);
    /// Ends what is known of it on both sides.
    void leave();

    edge_socket* watched;  ///< whose watch_ this is; null when it is no more, or is gone
    op* successor = nullptr;
    bool ended = false;   ///< by end_watch()
    bool missed = false;  ///< something came between the end and the read
  };

  template <class Handler>
  struct watch_op : any_watch {
    watch_op(edge_socket& s, Handler&& h) : any_watch(s, &watch_op::complete), handler(std::move(h)) {}

    static void complete(void* owner, operation* base, const error_code&, std::size_t) {
      auto* self = static_cast<watch_op*>(base);
      self->leave();
      auto h = std::move(self->handler);
      const auto ec = self->ec_;
      auto* const next = self->successor;
      dispose(self);
      if (next) {
        if (ec) next->ec_ = ec;
        owner ? next->complete(owner, {}, 0) : next->destroy();
      } else if (owner) {
        std::move(h)(ec);
      }
    }
    Handler handler;
  };

  template <class Op, class... Args>
  static Op* make(Args&&... args) {
    return ::new (memory::take_block(sizeof(Op))) Op(std::forward<Args>(args)...);
  }
  template <class Op>
  static void dispose(Op* o) {
    o->~Op();
    memory::give_back_block(o, sizeof(Op));
  }

  void start(op* o, expect what);
  void withdraw_watch();
  void forget_watch() {
    if (watch_) watch_->leave();
  }
  op::status receive(asio::mutable_buffer b, error_code& ec, std::size_t& n);

  reactor& reactor_;
  any_watch* watch_ = nullptr;  ///< in the reactor's queue or about to be called, with no read in its place
  bool asked_ = false;          ///< the kernel, to tell what is left
  bool tells_rest_ = false;     ///< and it does
  bool drained_ = false;
  bool disturbed_ = false;
};

}  // namespace idem::net
