// A byte stream to a peer: TCP or unix socket, plain or TLS, behind one set of calls.
//
// Reading and writing cost no virtual call and no extra coroutine on the plain path. One read and one write may be
// under way at the same time. Belongs to one thread.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <string_view>
#include <utility>

#include "idem/net/edge_socket.hpp"
#include "idem/net/tls.hpp"
#include "idem/net/types.hpp"

namespace idem::net {

class stream {
 public:
  using tls_stream = net::tls_stream;

  explicit stream(socket s) : socket_(std::make_unique<edge_socket>(std::move(s))) {}
  stream(stream&&) noexcept = default;
  stream& operator=(stream&&) = delete;
  ~stream() { tls_.reset(); }

  /// The socket, below TLS.
  socket& lowest() { return *socket_; }
  /// Null for a plain stream.
  tls_stream* tls() { return tls_.get(); }
  /// What is read and written from now on goes through TLS. The handshake is the caller's.
  tls_stream& start_tls(asio::ssl::context& context) {
    tls_ = std::make_unique<tls_stream>(*socket_, context);
    return *tls_;
  }

  /// co_await → tuple(error_code, bytes)
  auto read(asio::mutable_buffer b, edge_socket::expect what) {
    return asio::async_initiate<decltype(as_result), void(error_code, std::size_t)>(
        [this, b, what](auto handler) {
          if (tls_) {
            tls_->async_read_some(b, std::move(handler));
          } else {
            socket_->async_read(b, what, std::move(handler));
          }
        },
        as_result);
  }

  auto read_some(asio::mutable_buffer b) { return read(b, edge_socket::expect::rest); }
  /// The same for the first bytes of a message, when all that came before was read: costs no look in vain.
  auto read_first(asio::mutable_buffer b) { return read(b, edge_socket::expect::message); }
  /// The bytes as they come, below TLS.
  auto read_raw(asio::mutable_buffer b) { return socket_->read(b, edge_socket::expect::rest); }
  /// co_await → tuple(error_code, bytes)
  auto write_some(asio::const_buffer b) {
    return asio::async_initiate<decltype(as_result), void(error_code, std::size_t)>(
        [this, b](auto handler) {
          if (tls_) {
            tls_->async_write_some(b, std::move(handler));
          } else {
            socket_->async_write_some(b, std::move(handler));
          }
        },
        as_result);
  }
  /// The same for completion handlers: handler(error_code, bytes).
  template <class Handler>
  void write_some(asio::const_buffer b, Handler handler) {
    if (tls_) {
      tls_->async_write_some(b, std::move(handler));
    } else {
      socket_->async_write_some(b, std::move(handler));
    }
  }

  /// Sends what the kernel takes at once. Plain streams only; on TLS always would_block.
  std::size_t send_now(std::string_view bytes, error_code& ec) {
    if (tls_) {
      ec = asio::error::would_block;
      return 0;
    }
    for (;;) {
      const auto n = ::send(socket_->native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n >= 0) {
        ec = {};
        return static_cast<std::size_t>(n);
      }
      if (errno == EINTR) continue;
      ec = errno == EAGAIN ? error_code(asio::error::would_block) : error_code(errno, boost::system::system_category());
      return 0;
    }
  }

  /// handler(error_code) as soon as anything comes, the peer's end included; nothing of it is read. cancel() ends it.
  template <class Handler>
  void watch(Handler handler) {
    socket_->async_watch(std::move(handler));
  }
  /// Ends a watch that was not disturbed, before this side speaks: what comes then is for the next read.
  void end_watch() {
    if (tls_) {
      cancel();
    } else {
      socket_->end_watch();
    }
  }
  /// Whether anything has come since watch() began, as far as this thread has been told.
  bool disturbed() const { return socket_->disturbed(); }

  /// Whether TLS has taken more off the socket than was read: records that came together with the last one. The socket
  /// knows nothing of them any more, so that neither watch() nor a look at it finds them.
  bool holds_unread() const {
    return tls_ &&
           (SSL_has_pending(tls_->native_handle()) == 1 || BIO_pending(SSL_get_rbio(tls_->native_handle())) > 0);
  }
  /// Whether an idle connection is still good: nothing to read, no end, no error. One system call.
  bool quiet() { return !holds_unread() && socket_->quiet(); }
  /// Whether the peer has reset the connection; on a unix socket also whether it has closed it. A peer that only ended
  /// its sending side has not. Bytes that are still to be read do not hide it, as they would from a read.
  bool reset_by_peer() {
    pollfd look{socket_->native_handle(), 0, 0};
    return look.fd < 0 || (::poll(&look, 1, 0) == 1 && (look.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0);
  }

  /// Pending operations end with operation_aborted.
  void cancel() {
    error_code ignored;
    socket_->cancel(ignored);
  }
  /// Ends the connection; a clean end is the caller's business (shutdown first).
  void close() {
    error_code ignored;
    socket_->close(ignored);
  }
  /// Ends with RST, so that the peer cannot take what it has for a whole message.
  void abort() {
    error_code ignored;
    socket_->set_option(asio::socket_base::linger(true, 0), ignored);
    socket_->close(ignored);
  }
  bool is_open() const { return socket_->is_open(); }

 private:
  std::unique_ptr<edge_socket> socket_;
  std::unique_ptr<tls_stream> tls_;
};

}  // namespace idem::net
