// The one execution of a claimed key: send the request, capture the answer, settle the record, then let the client have
// the last byte (docs/protocol.md, "What the backend's answer becomes").
//
// The call is detached from its client: whether the client is still there changes nothing but what is written to it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "idem/idempotency/outcome.hpp"
#include "proxy/claim.hpp"
#include "proxy/client_sender.hpp"
#include "proxy/upstream_exchange.hpp"

namespace idem::proxy {

class claimed_call {
 public:
  /// @param request the whole request, head and body, as it goes upstream
  /// @param bypass the store could not be read, and the route goes on without: the answer is marked, and stored later
  claimed_call(client_connection& c, std::shared_ptr<claim> owned, std::string request, bool bypass);

  ~claimed_call() { c_.on_break = nullptr; }

  /// Gets a connection and makes sure that the lease still holds. next::execute: go on with run(). Anything else: the
  /// record belongs to others by now (nothing was sent), or connecting failed and `failed()` holds the answer.
  net::task<idempotency::next> prepare();
  bool connect_failed() const { return fault_ != fault::none; }
  net::task<after> answer_connect_failure();

  net::task<after> run();
  bool client_done() const { return client_done_; }

 private:
  // sending
  bool send_first();
  net::task<void> upload();
  // the answer
  net::task<fault> receive();
  net::task<fault> heads();
  void take_head();
  net::task<fault> body();
  net::task<void> take_piece(std::string_view data);
  net::task<void> forward();
  net::task<void> store_without_body();
  net::task<void> hold_to_client_pace();
  // to the client
  void open_stream();
  void stream_data(std::string_view data);
  void client_late();
  net::task<after> send_last(std::string_view mark);
  net::task<after> send_found();
  // settling
  net::task<after> settle_answer();
  net::task<after> settle_failure(fault f);
  void owe(std::size_t bytes);
  net::task<after> leave(after how);

  void break_off(fault f);
  std::chrono::milliseconds elapsed() const;

  client_connection& c_;
  std::shared_ptr<claim> claim_;
  const config::idempotency_config& route_;
  std::string request_;
  std::string_view unsent_;
  bool bypass_;
  upstream_exchange up_;
  client_sender sender_;
  net::deadline response_limit_, processing_limit_, idle_limit_;
  net::event uploaded_;
  bool uploading_ = false;
  fault fault_ = fault::none;
  fault broken_off_ = fault::none;
  std::chrono::steady_clock::time_point began_;

  unsigned status_ = 0;
  idempotency::settlement settlement_ = idempotency::settlement::declare;
  http::framing from_, to_;
  std::string lines_;    ///< head for the first client, without framing
  std::string block_;    ///< header block of the record
  std::string body_;     ///< captured
  std::string held_;     ///< the byte that goes out when the store has the answer
  bool capture_ = true;        ///< pieces are kept until the answer is whole, or too large
  bool keeps_ = false;         ///< the answer is to be stored
  bool released_ = false;
  bool without_body_ = false;  ///< X is written
  bool streaming_ = false;     ///< the head has gone to the client
  bool client_done_ = false;   ///< the client was told that it took too long
  bool close_ = false;
};

}  // namespace idem::proxy
