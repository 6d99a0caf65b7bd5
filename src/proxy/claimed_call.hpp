// The one execution of a claimed key: send the request, capture the answer, settle the record, then let the client have
// the last byte (docs/protocol.md, "What the backend's answer becomes").
//
// The call is detached from its client: whether the client is still there changes nothing but what is written to it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "idem/idempotency/outcome.hpp"
#include "idem/net/companion.hpp"
#include "idem/net/pause.hpp"
#include "proxy/claim.hpp"
#include "proxy/client_sender.hpp"
#include "proxy/upstream_exchange.hpp"

namespace idem::proxy {

class claimed_call {
 public:
  /// @param request appends the whole request, head and body, as it goes upstream. Asked when it is sent, and not after
  ///        prepare(): the attempt that it names can change until then
  /// @param bypass the store could not be read, and the route goes on without: the answer is marked, and stored later
  claimed_call(client_connection& c, std::shared_ptr<claim> owned, std::function<void(std::string&)> request,
               bool bypass);

  ~claimed_call();

  /// Gets a connection and makes sure that the lease still holds. next::execute: go on with run(), or, where
  /// connect_failed(), with answer_connect_failure(). Anything else: the record belongs to others by now, and nothing
  /// was sent.
  net::task<idempotency::next> prepare();
  bool connect_failed() const { return fault_ != fault::none; }
  net::task<after> answer_connect_failure();

  net::task<after> run();
  bool client_done() const { return client_done_; }

  /// Something has thrown: both sides are cut, and the key is left to lapse. What was begun beside the call uses its
  /// objects; whoever caught waits for upload_ended(), record_left() and answer_left() before the call goes. Needs no
  /// memory.
  void cut_off();
  auto upload_ended() { return upload_.ended(); }
  auto record_left() { return x_tries_.ended(); }
  auto answer_left() { return sender_.drained(); }

 private:
  // sending
  bool may_send() const;
  net::task<idempotency::next> send_while_leased();
  net::task<void> stand_down();
  void send_first();
  net::task<void> upload();
  // the answer
  net::task<fault> receive();
  net::task<fault> heads();
  void take_head();
  bool means_gone() const;
  void take_as_gone();
  net::task<fault> body();
  net::task<void> take_piece(std::string_view data);
  net::task<void> forward();
  net::task<void> store_without_body();
  idempotency::next complete_without_body();
  bool take_x_result();
  net::task<void> keep_trying_x();
  void end_x_tries();
  void limit_unattended();
  net::task<void> hold_to_client_pace();
  // to the client
  void open_stream();
  void stream_data(std::string_view data);
  void client_late();
  net::task<after> send_last(std::string_view mark);
  net::task<after> send_found();
  // settling
  void judge_body();
  net::task<after> settle_answer();
  net::task<after> settle_failure(fault f);
  net::task<void> settle_or_owe(idempotency::next n);
  void owe(std::size_t bytes);
  net::task<after> leave(after how);

  void break_off(fault f);
  void end_of_drain();
  std::chrono::milliseconds elapsed() const;
  std::chrono::steady_clock::duration log_attempt();

  client_connection& c_;
  std::shared_ptr<claim> claim_;
  const config::idempotency_config& route_;
  std::function<void(std::string&)> append_request_;
  std::string request_;
  std::string_view unsent_;
  bool bypass_;
  upstream_exchange up_;
  client_sender sender_;
  net::deadline response_limit_, processing_limit_, idle_limit_;
  net::companion upload_, x_tries_;
  net::pause x_rest_;
  fault fault_ = fault::none;
  fault broken_off_ = fault::none;
  std::chrono::steady_clock::time_point began_;      ///< right after the claim
  std::chrono::steady_clock::time_point sent_at_{};  ///< the first byte, of the last try

  unsigned status_ = 0;
  idempotency::settlement settlement_ = idempotency::settlement::declare;
  http::framing from_, to_;
  std::string lines_;     ///< head for the first client, without framing
  std::string block_;     ///< header block of the record
  std::string body_;      ///< captured
  std::string held_;      ///< the byte that goes out when the store has the answer
  bool capture_ = true;   ///< pieces are kept until the answer is whole, or too large
  bool keeps_ = false;    ///< the answer is to be stored
  bool encoded_ = false;  ///< by a content coding: nothing can be read in it
  bool gone_ = false;     ///< what a DELETE was to remove is not there: a 204 of ours stands in for the answer
  bool released_ = false;
  bool without_body_ = false;  ///< it is certain that the record becomes X
  bool x_stored_ = false;      ///< and it has
  bool x_tries_over_ = false;  ///< the answer has ended: its own end tries once more
  bool superseded_ = false;    ///< another record stood there instead: nothing of this answer counts
  bool streaming_ = false;     ///< the head has gone to the client
  bool said_all_ = false;      ///< the sender has the whole answer
  bool client_done_ = false;   ///< the client was told that it took too long
  bool close_ = false;
};

}  // namespace idem::proxy
