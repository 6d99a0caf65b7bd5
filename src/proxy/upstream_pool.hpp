// Connections of one thread to the backend: idle ones, last in first out, and new ones.
//
// A pool belongs to one upstream configuration (address and TLS identity). An idle connection is watched, and leaves
// when anything comes on it; it is never kept for longer than the backend keeps it. Names are resolved again at
// most every 30 s, both families.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/http/parser.hpp"
#include "idem/net/deadline.hpp"
#include "idem/net/event.hpp"
#include "idem/net/name_lookup.hpp"
#include "idem/net/stream.hpp"
#include "idem/telemetry/metrics.hpp"
#include "proxy/fault.hpp"

namespace idem::proxy {

struct upstream_connection {
  explicit upstream_connection(net::stream s);
  net::stream stream;
  http::response_parser parser;  ///< of the exchange that has the connection; its room stays for the next one
  bool reused = false;
  std::chrono::steady_clock::time_point idle_since{};
  std::chrono::steady_clock::time_point looked_at{};  ///< since it is idle; what was seen stands in `disturbed`
  bool disturbed = false;
};
using upstream_ptr = std::unique_ptr<upstream_connection>;

/// How sure an idle connection must be. A backend that ends one while a request is on its way leaves that request's
/// outcome unknown. Nothing is sent again by the proxy, but the client can repeat a safe method (RFC 9110 §9.2.1)
/// without a thought; everything else looks once more.
enum class reuse : std::uint8_t {
  watched,  ///< nothing has come, as far as the event loop, or an earlier look, has told
  peeked    ///< and the kernel has said the same within the last 100 µs
};

class upstream_pool : public std::enable_shared_from_this<upstream_pool> {
 public:
  /// @param tls null for plain connections; shared by all threads
  /// @param before the one whose place it takes, if there is one: of the same host the addresses are known
  upstream_pool(net::asio::io_context& io, net::deadline_wheel& wheel, const config::upstream_config& settings,
                std::shared_ptr<net::asio::ssl::context> tls, telemetry::worker_block& metrics,
                const upstream_pool* before = nullptr);
  ~upstream_pool() { close_idle(); }
  upstream_pool(const upstream_pool&) = delete;
  upstream_pool& operator=(const upstream_pool&) = delete;

  /// A connection on which nothing has come since its last answer, or null.
  upstream_ptr take_idle(reuse how);
  void give_back(upstream_ptr connection);

  struct outcome {
    upstream_ptr connection;
    fault why = fault::none;
  };
  /// A new connection, within connect_timeout, TLS handshake included. Of several addresses each has its share of it.
  net::task<outcome> connect();

  void close_idle();

 private:
  using endpoint = net::asio::generic::stream_protocol::endpoint;
  struct resolution {
    net::name_lookup lookup;
    std::vector<endpoint> found;
    std::chrono::steady_clock::time_point at{};
    bool running = false;
    std::vector<net::event*> waiting;
    explicit resolution(net::asio::io_context& io) : lookup(io) {}
  };

  void resolve();
  bool resolved_recently() const;
  net::task<bool> addresses(const bool& late, net::event& wake);
  net::task<fault> open(net::stream& s, const endpoint& address, const bool& late);
  net::task<bool> reach(net::socket& s, const endpoint& address, const bool& late);
  net::task<fault> handshake(net::stream& s);
  void begin_with(const endpoint& address);
  void sweep();
  void leave(const upstream_connection* c);
  void look_at_last();

  net::asio::io_context& io_;
  net::deadline_wheel& wheel_;
  config::upstream_config settings_;
  std::shared_ptr<net::asio::ssl::context> tls_;
  telemetry::worker_block& metrics_;
  std::vector<upstream_ptr> idle_;
  std::size_t looks_used_ = 1;  ///< connections that were taken by the last look at them
  net::deadline sweeper_;
  std::shared_ptr<resolution> names_;
};

}  // namespace idem::proxy
