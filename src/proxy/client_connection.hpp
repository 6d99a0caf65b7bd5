// One connection of a client: reads heads, lets exchanges answer them one after the other, ends in good order.
//
// The connection is a coroutine that owns this object; exchanges are coroutines below it. A client that goes away does
// not end an exchange whose key is claimed: writing just stops.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "idem/config/config.hpp"
#include "idem/http/parser.hpp"
#include "idem/idempotency/problem.hpp"
#include "idem/net/deadline.hpp"
#include "idem/net/event.hpp"
#include "idem/net/stream.hpp"
#include "proxy/fault.hpp"
#include "proxy/read_buffer.hpp"
#include "proxy/request_log.hpp"
#include "proxy/worker.hpp"

namespace idem::proxy {

/// What an exchange must still know of its request once the head's bytes are gone.
struct request_facts {
  bool head_method = false;
  bool keep_alive = false;
  bool expect_continue = false;
  bool upgrade = false;
  unsigned minor = 1;
  bool delete_method = false;
  bool safe_method = false;  ///< RFC 9110 §9.2.1
  std::string_view cors;     ///< lines that an answer of ours has here; of the runtime, none without a route
};

/// How an exchange leaves the connection.
enum class after : std::uint8_t {
  keep,   ///< the next request can be read
  close,  ///< ends cleanly after what was written, in stages: no RST eats it
  abort   ///< an incomplete answer must not look complete: RST
};

/// What stands for the address of a client that came by a unix socket.
inline constexpr std::string_view unix_peer = "unix";

class client_connection {
 public:
  client_connection(worker& w, net::stream s, std::string peer);
  ~client_connection();
  client_connection(const client_connection&) = delete;
  client_connection& operator=(const client_connection&) = delete;

  /// The whole life; ends when the connection does and its last exchange is settled.
  net::task<void> run();

  /// A drain begins: an idle connection closes now, a busy one after its answer.
  void begin_drain();
  /// The drain is over: whatever runs is broken off.
  void break_off();

  // -- for exchanges --------------------------------------------------------------------------------------------------

  /// Writes all of it, or finds the client gone (false). Bounded by body_idle between two pieces of progress.
  net::task<bool> write(std::string_view bytes);
  /// Sends at once what the kernel takes; the rest is the caller's.
  std::size_t write_now(std::string_view bytes);
  /// A problem of ours as the answer. Returns how the connection goes on.
  net::task<after> answer(idempotency::problem p, after then);

  /// Whether answers must announce the end of the connection.
  bool must_close() const { return !facts.keep_alive || w.draining(); }
  /// Whether answers must say to a client of HTTP/1.0 that the connection goes on.
  bool keep_alive_10() const { return facts.minor == 0 && !must_close(); }
  std::string_view peer() const { return peer_; }  ///< address without port, or unix_peer

  worker& w;
  std::shared_ptr<proxy::runtime> runtime;  ///< of the current request, or of the last one
  net::stream stream;
  read_buffer in;
  http::request_parser parser;
  request_facts facts;
  std::string out;  ///< reused: what is written next
  request_log log;
  route_state* route = nullptr;
  /// Subject of the certificate that the client has shown (RFC 2253); nothing without one.
  std::optional<std::string> client_subject;
  bool gone = false;  ///< the client's side has failed; nothing more is written
  net::deadline write_limit;
  std::function<void()> on_break;  ///< what an exchange does when the drain is over
  /// The drain is over: an exchange that had no on_break then begins nothing any more.
  bool broken_off() const { return broken_off_; }

 private:
  /// What read_head() comes back with.
  enum class head_result : std::uint8_t {
    complete,
    rejected,
    late,   ///< a part of it has come, and the rest has not in time
    ended,  ///< the client has ended, or was idle for too long
    drains  ///< a drain began with the last answer: the next request is not read
  };
  net::task<void> give_way();
  void take_configuration();
  net::task<head_result> read_head();
  net::task<after> serve();
  void forget_request();
  net::task<void> reject(const http::rejection& why);
  net::task<void> finish(after how);
  net::task<void> end_idle();
  net::task<void> end_tls();
  net::task<void> linger();
  net::task<bool> hear_first();
  net::task<bool> read_peer();
  net::task<bool> accept_tls();
  void start_log();
  void end_log();

  std::list<client_connection*>::iterator self_;
  net::deadline read_limit_;
  std::string peer_;
  bool idle_ = false;  ///< waits for the first byte of a request, or of what comes before all requests
  bool timed_out_ = false;
  bool first_ = true;
  bool broken_off_ = false;
  unsigned in_a_row_ = 0;  ///< requests since others had a turn
};

/// Runs one exchange; chooses by route. Defined in exchange.cpp.
net::task<after> run_exchange(client_connection& c, const config::path_captures& captures);

}  // namespace idem::proxy
