#include "proxy/claimed_call.hpp"

#include <algorithm>

#include "idem/memory/block_pool.hpp"
#include "proxy/forwarding.hpp"
#include "proxy/stored_answer.hpp"

namespace idem::proxy {

namespace asio = net::asio;
using http::body_step;
using http::framing_kind;
using idempotency::next;
using idempotency::settlement;

namespace {

constexpr unsigned max_interim = 8;

bool is_event_stream(const http::response_head& head) {
  constexpr std::string_view type = "text/event-stream";
  const auto value = head.value(http::field_id::content_type);
  return value.size() >= type.size() && http::iequals(value.substr(0, type.size()), type) &&
         (value.size() == type.size() || value[type.size()] == ';' || value[type.size()] == ' ');
}

}  // namespace

claimed_call::claimed_call(client_connection& c, std::shared_ptr<claim> owned,
                           std::function<void(std::string&)> request, bool bypass)
    : c_(c),
      claim_(std::move(owned)),
      route_(claim_->engine.route()),
      append_request_(std::move(request)),
      bypass_(bypass),
      up_(c.w.buffers, claim_->runtime->pool),
      sender_(c),
      response_limit_(c.w.wheel, [this] { client_late(); }),
      processing_limit_(c.w.wheel, [this] { break_off(fault::processing_limit); }),
      idle_limit_(c.w.wheel,
                  [this] {
                    sender_.abort();
                    limit_unattended();
                  }),
      x_rest_(c.w.wheel),
      began_(std::chrono::steady_clock::now()) {
  for (auto* s : {&request_, &lines_, &block_, &body_}) *s = memory::take_string();
  c_.on_break = [this] { end_of_drain(); };
  if (c_.broken_off()) broken_off_ = fault::drained;  // while the store was asked
  response_limit_.after(c_.route->route->response_timeout);
  processing_limit_.after(route_.max_processing);
}

claimed_call::~claimed_call() {
  c_.on_break = nullptr;
  for (auto* s : {&request_, &lines_, &block_, &body_}) memory::give_back_string(std::move(*s));
}

void claimed_call::break_off(fault f) {
  if (broken_off_ == fault::none) broken_off_ = f;
  up_.close();
}

void claimed_call::cut_off() {
  for (auto* limit : {&response_limit_, &processing_limit_, &idle_limit_}) limit->clear();
  up_.close();
  sender_.abort();
  end_x_tries();
}

/// The record is settled in what time is left. A client that has not taken its answer by now must not think that it
/// has.
void claimed_call::end_of_drain() {
  break_off(fault::drained);
  if (said_all_ && sender_.pending() > 0) sender_.abort();
}

std::chrono::milliseconds claimed_call::elapsed() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_);
}

// ------------------------------------------------------------------------------------------------------------- sending

net::task<next> claimed_call::prepare() {
  // Connecting can take longer than a lease. And what is let past the store has a record as soon as that answers again:
  // others must not execute the key meanwhile, nor think that it was never seen if this process dies.
  claim_->start_renewing();
  if (broken_off_ == fault::none) fault_ = co_await up_.connect(reuse::peeked);
  if (fault_ == fault::none && broken_off_ != fault::none) fault_ = broken_off_;
  if (fault_ != fault::none) co_return next::execute;
  auto n = co_await send_while_leased();
  if (n == next::execute && fault_ == fault::none && up_.write_failed() && !up_.written()) {
    // An idle connection that had died: not a byte has left, so another one may be tried, once.
    fault_ = co_await up_.connect_fresh();
    if (fault_ != fault::none) co_return next::execute;
    n = co_await send_while_leased();
    if (n == next::execute && fault_ == fault::none && up_.write_failed() && !up_.written())
      fault_ = fault::upstream_connect;
  }
  if (n != next::execute) co_await stand_down();
  co_return n;
}

/// What is let past the store goes by no lease. But a store that comes back before the first byte may show that others
/// have the key, and what could be read is not passed by.
bool claimed_call::may_send() const {
  const bool unheard = bypass_ && !claim_->store_has_spoken();
  return unheard || claim_->engine.may_send(net::lease_clock::now());
}

/// Anything but next::execute: the key is not ours any more, and nothing was sent.
net::task<next> claimed_call::send_while_leased() {
  while (broken_off_ == fault::none && !may_send()) {
    const auto n = co_await claim_->renew_now();
    if (n != next::execute) co_return n;
    // nobody watched the connection meanwhile
    if (broken_off_ == fault::none && up_.reused() && !up_.quiet()) {
      fault_ = co_await up_.connect_fresh();
      if (fault_ != fault::none) co_return next::execute;
    }
  }
  fault_ = broken_off_;
  // From the check to the first byte nothing waits: it holds for the send.
  if (fault_ == fault::none) send_first();
  co_return next::execute;
}

/// The record decides what the client gets; nothing that this call would still say may meet that answer.
net::task<void> claimed_call::stand_down() {
  response_limit_.clear();
  processing_limit_.clear();
  c_.on_break = nullptr;
  co_await sender_.drained();
}

/// Does nothing more if the connection was dead and no byte has left.
void claimed_call::send_first() {
  request_.clear();
  append_request_(request_);
  sent_at_ = std::chrono::steady_clock::now();
  const auto sent = up_.send_now(request_);
  if (up_.write_failed() && !up_.written()) return;
  unsent_ = std::string_view(request_).substr(sent);
  // Without the rest of its request the backend would wait, and this for the backend.
  if (!unsent_.empty()) upload_.start(c_.w.io.get_executor(), upload(), [this] { up_.close(); });
}

net::task<void> claimed_call::upload() {
  if (co_await up_.send(unsent_)) unsent_ = {};
}

// ---------------------------------------------------------------------------------------------------------- the answer

net::task<after> claimed_call::run() {
  const auto f = co_await receive();
  response_limit_.clear();
  processing_limit_.clear();
  idle_limit_.clear();
  end_x_tries();
  co_await x_tries_.ended();
  c_.route->metrics->upstream.observe(log_attempt());
  after how = after::close;
  if (f == fault::none) {
    // neither the store nor the client's pace is the backend's business
    if (!upload_.running()) up_.finish(unsent_.empty());
    c_.route->times->add(elapsed());
    how = co_await settle_answer();
  } else {
    how = co_await settle_failure(f);
  }
  if (upload_.running()) up_.close();
  co_await upload_.ended();
  up_.finish(unsent_.empty());
  co_return co_await leave(how);
}

/// Returns the time since the first byte was sent, if one was.
std::chrono::steady_clock::duration claimed_call::log_attempt() {
  c_.log.attempt = claim_->engine.own().attempt;
  if (sent_at_ == decltype(sent_at_){}) return {};
  const auto took = std::chrono::steady_clock::now() - sent_at_;
  c_.log.upstream = std::chrono::duration_cast<std::chrono::microseconds>(took);
  return took;
}

net::task<fault> claimed_call::receive() {
  auto f = co_await heads();
  if (f != fault::none) co_return f;
  take_head();
  const bool too_large = from_.kind == framing_kind::length && from_.length > route_.max_stored_body;
  keeps_ = settlement_ == settlement::succeed || settlement_ == settlement::fail;
  const bool endless = from_.kind != framing_kind::none && is_event_stream(up_.head());
  if (keeps_ && !gone_ && (too_large || endless)) co_await store_without_body();
  if (superseded_) co_return fault::none;
  // one piece of memory for it, instead of ever larger ones
  if (capture_ && !gone_ && from_.kind == framing_kind::length && !too_large) body_.reserve(from_.length);
  up_.begin_body();
  co_return co_await body();
}

net::task<fault> claimed_call::heads() {
  for (unsigned interim = 0;;) {
    const auto f = co_await up_.read_head(c_.facts.head_method ? "HEAD" : "POST");
    if (broken_off_ != fault::none) co_return broken_off_;
    if (f != fault::none) co_return f;
    const auto status = up_.head().status;
    if (status == 101) co_return fault::upstream_malformed;  // nothing was asked to be upgraded
    if (status >= 200) co_return fault::none;
    // 100 was answered by the proxy itself, which had the whole body before
    if (++interim <= max_interim && status != 100 && c_.facts.minor >= 1 && !client_done_) {
      std::string relayed;
      http::response_edits edits;
      edits.drop_idempotency_status = true;
      http::append_response_head(relayed, up_.head(), edits);
      sender_.send(relayed);
    }
    up_.next_head();
  }
}

void claimed_call::take_head() {
  const auto& head = up_.head();
  response_limit_.clear();
  status_ = head.status;
  c_.log.status = status_;
  settlement_ = idempotency::settle_answer(route_, status_);
  from_ = head.body;
  encoded_ = head.find(http::field_id::content_encoding) != nullptr;
  if (means_gone()) return take_as_gone();
  append_answer_lines(lines_, head, claim_->runtime->config->server.via);
  append_header_block(block_, head, route_.replay_drop);
}

/// absent_is_success: the DELETE has nothing more to remove, perhaps because an earlier attempt removed it.
bool claimed_call::means_gone() const {
  if (!c_.facts.delete_method || (status_ != 404 && status_ != 410)) return false;
  switch (route_.absent_is_success) {
    case config::absent_policy::off: return false;
    case config::absent_policy::if_repeated: return claim_->engine.taken_over();
    case config::absent_policy::always: return true;
  }
  return false;
}

void claimed_call::take_as_gone() {
  gone_ = true;
  status_ = 204;
  c_.log.status = status_;
  settlement_ = idempotency::settle_answer(route_, status_);
  from_ = {};
  append_no_content_block(block_, up_.head(), route_.replay_drop);
  append_block_lines(lines_, status_, block_, claim_->runtime->config->server.via);
}

net::task<fault> claimed_call::body() {
  for (;;) {
    const auto step = up_.next_piece();
    if (step.type == body_step::kind::data) {
      if (!gone_) c_.log.bytes_out += step.data.size();
      co_await take_piece(step.data);
      if (superseded_) co_return fault::none;
      continue;
    }
    if (step.type == body_step::kind::error) co_return fault::upstream_malformed;
    if (step.type == body_step::kind::done) co_return fault::none;
    co_await forward();
    if (!client_done_) idle_limit_.after(claim_->runtime->config->upstream.idle_timeout);
    const auto f = co_await up_.read_more();
    idle_limit_.clear();
    if (superseded_) co_return fault::none;
    if (broken_off_ != fault::none) co_return broken_off_;
    if (f != fault::none) co_return f;
  }
}

net::task<void> claimed_call::take_piece(std::string_view data) {
  if (gone_) co_return;
  if (capture_ && body_.size() + data.size() > route_.max_stored_body) {
    // crossed the limit: from here it is certain that the answer cannot be kept
    const std::string so_far = std::move(body_);
    body_.clear();
    capture_ = false;
    if (keeps_) co_await store_without_body();
    if (superseded_) co_return;
    if (!streaming_) {
      open_stream();
      stream_data(so_far);
    }
  }
  if (capture_) {
    body_ += data;
    if (streaming_) stream_data(data);
  } else {
    if (!streaming_) open_stream();
    stream_data(data);
  }
}

/// Everything that was read is used up, and the answer goes on: what the client can have, it gets now.
net::task<void> claimed_call::forward() {
  if (gone_) co_return;
  if (!streaming_) {
    open_stream();
    if (capture_ && !body_.empty()) stream_data(body_);
  }
  if (!capture_) co_await hold_to_client_pace();
}

// ------------------------------------------------------------------------------------------------------- to the client

void claimed_call::open_stream() {
  streaming_ = true;
  if (client_done_) return;
  to_ = answer_framing(from_, c_.facts.minor);
  close_ = c_.must_close() || to_.kind == framing_kind::until_close;
  std::string_view mark;
  if (bypass_) {
    mark = "Idempotency-Status: bypassed\r\n";
  } else if (without_body_ && !x_stored_) {
    // an X, which the store has refused by now; any other record is written at the end, and what comes of it said there
    mark = "Idempotency-Status: not-stored\r\n";
  }
  std::string head = lines_;
  end_answer_head(head, c_, to_, close_, mark);
  sender_.send(head);
}

/// All but the last byte, which is held until the store has the answer. X has nothing to wait for.
void claimed_call::stream_data(std::string_view data) {
  if (client_done_ || data.empty()) return;
  std::string bytes;
  if (!without_body_) {
    std::string now = std::move(held_);
    now += data.substr(0, data.size() - 1);
    held_.assign(1, data.back());
    if (now.empty()) return;
    append_data(bytes, to_, now);
  } else {
    std::string now = std::move(held_);
    held_.clear();
    now += data;
    append_data(bytes, to_, now);
  }
  sender_.send(bytes);
}

/// response_timeout: the client is told, the call goes on, and its late answer is stored. The request's line in the log
/// does not wait for that, and what comes of the call later is no part of it.
void claimed_call::client_late() {
  if (streaming_ || client_done_) return;
  client_done_ = true;
  idempotency::problem p(idempotency::problem_code::upstream_timeout);
  p.close = true;
  std::string bytes;
  c_.log.bytes_out = idempotency::append_problem_response(bytes, p, false, c_.facts.head_method, c_.facts.cors);
  sender_.send(bytes);
  c_.log.status = p.status;
  c_.log.what = telemetry::decision::upstream_timeout;
  c_.log.fault = row(fault::upstream_late).label;
  c_.log.store = claim_->store_time;
  log_attempt();
  c_.log.end();
  if (sender_.pending() == 0 && !c_.stream.tls()) {
    net::error_code ignored;
    c_.stream.lowest().shutdown(asio::socket_base::shutdown_send, ignored);
  }
}

}  // namespace idem::proxy
