// What passes: no route, no key, an upgrade, or a route that only observes. Streams both ways with bounded buffers.
//
// The request's body goes up in a coroutine of its own while the answer is read, so that an early answer arrives
// (RFC 9112 §9.5). An incomplete message is never made to look complete (RFC 9112 §8): the other side is aborted.
#pragma once

#include <string>
#include <string_view>

#include "idem/http/body.hpp"
#include "idem/http/writer.hpp"
#include "idem/net/companion.hpp"
#include "idem/net/deadline.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/request_tap.hpp"
#include "proxy/upstream_exchange.hpp"

namespace idem::proxy {

class pass_through {
 public:
  /// What an owner wants to be different from plain passing.
  struct options {
    std::string_view body;  ///< the whole request body, when it was read already; else it is read from the client
    bool body_read = false;
    std::chrono::milliseconds response_timeout{};
    request_tap* tap = nullptr;  ///< sees the request, if it is not null; only of one whose body is read here
  };

  pass_through(client_connection& c, const options& o);
  ~pass_through();
  net::task<after> run();

  unsigned status() const { return status_; }  ///< of the answer; 0 without a whole one
  bool whole() const { return whole_; }        ///< the answer came to its end
  bool bytes_written() const { return up_.written(); }
  fault why() const { return fault_; }

 private:
  bool make_head();
  bool take_buffered_body();
  net::task<bool> open();
  net::task<void> upload();
  net::task<bool> read_more_of_request();
  void begin_turn_of_client();
  net::task<void> tell_of_cut_request(net::error_code why);
  http::body_step::kind gather_body(std::string& into);
  net::task<bool> send_piece();
  net::task<after> answer();
  net::task<fault> heads();
  net::task<bool> relay_interim();
  bool ends_early() const;
  void make_answer_head();
  net::task<after> body();
  net::task<after> end_of_answer();
  net::task<after> fail(fault f);
  net::task<after> tunnel();
  net::task<bool> request_sent();
  void watch_client();
  void break_off(fault f);
  void end_of_drain();

  client_connection& c_;
  options options_;
  upstream_exchange up_;
  http::framing request_framing_;
  http::framing answer_framing_;
  http::body_decoder request_body_;
  std::string request_;       ///< head and the first body bytes
  std::string_view unsent_;   ///< of it
  std::string piece_;         ///< what the upload writes next
  net::deadline limit_;       ///< response_timeout, then idle_timeout
  net::deadline read_limit_;  ///< body_idle of the upload
  net::deadline watch_;
  net::companion upload_;
  fault fault_ = fault::none;
  fault broken_off_ = fault::none;
  unsigned status_ = 0;
  bool upload_whole_ = false;
  bool awaits_continue_ = false;  ///< the client has sent nothing of its body, and need not before the backend's 100
  bool answered_ = false;         ///< the answer has begun; its own limits count now
  bool tunnels_ = false;
  bool whole_ = false;
  bool keep_ = true;
};

}  // namespace idem::proxy
