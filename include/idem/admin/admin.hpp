// The admin listener: probes, metrics and what an operator may do. HTTP/1.1, one request a connection, never on the
// data port.
//
// It is made of conventional Beast messages, not of the data path's parts: simple, bounded, and alive when those are
// not. Bounds: 8 KiB of head, 16 KiB of body, 5 s for a connection from accept to the last byte, 32 connections; one
// more closes the oldest, so that slow peers cannot keep a probe out.
//
// GET endpoints answer everyone, since probes in pods come by the pod's address. POST endpoints change something and
// answer only to this machine (loopback addresses, unix sockets) and never to a web page (a request with Origin): 403.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/net/types.hpp"

namespace idem::admin {

/// What /readyz decides by.
struct readiness {
  bool listening = true;  ///< the data port is open
  bool draining = false;
  bool store_up = false;
  bool requires_store = false;  ///< admin.ready_requires_store

  bool ready() const { return listening && !draining && (store_up || !requires_store); }
  /// Says why; ends with a line feed.
  std::string text() const;
};

/// Views are valid during the call of a handler.
struct request {
  std::string_view method;  ///< HEAD is handled as GET
  std::string_view path;    ///< without the query
  std::string_view query;   ///< after the question mark, undecoded
  std::string_view body;
};

struct answer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

/// One row of the table of endpoints. Several rows may share a path with different methods.
struct handler {
  std::string method;  ///< "GET" (HEAD comes with it) or "POST" (this machine only)
  std::string path;
  std::function<answer(const request&)> handle;  ///< an exception becomes a 500
};

/// Called on the io_context's thread.
struct admin_hooks {
  std::function<readiness()> ready;
  std::function<std::string()> metrics;
  std::function<void()> drain;
};

/// Not thread-safe: every call on the io_context's thread, or while it does not run. Connections that are open when the
/// object goes end by themselves; the hooks are not called any more.
class admin_server {
 public:
  admin_server(net::asio::io_context& io, const config::endpoint& address, admin_hooks hooks);
  ~admin_server();
  admin_server(const admin_server&) = delete;
  admin_server& operator=(const admin_server&) = delete;

  /// Adds an endpoint to /livez, /readyz, /metrics and /drain.
  void add(handler row);

  /// Binds without SO_REUSEPORT, so that a second process on the same address fails. A unix socket that a dead process
  /// left behind is replaced. On failure `message` says what and where.
  net::error_code listen(std::string& message);
  /// Begins to accept. After listen().
  void start();
  /// Closes the listener and every connection.
  void close();

  /// The TCP port that is bound; 0 for a unix socket, or before listen().
  std::uint16_t port() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

/// For `idempotency-proxy drain`: POST /drain, blocking, at most 2 s once the name is resolved. Returns the exit code:
/// 0 when the process there drains, else 1; `message` says what happened, without a line feed.
int post_drain(const config::endpoint& address, std::string& message);

}  // namespace idem::admin
