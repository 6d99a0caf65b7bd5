#include "proxy/pass_through.hpp"

#include <exception>

#include "idem/memory/block_pool.hpp"
#include "idem/text/field_syntax.hpp"
#include "proxy/forwarding.hpp"
#include "proxy/tunnel.hpp"

namespace idem::proxy {

namespace asio = net::asio;
using namespace std::chrono_literals;
using http::body_step;
using http::framing_kind;
using idempotency::problem;
using idempotency::problem_code;

namespace {
constexpr unsigned max_interim = 8;
constexpr auto watch_period = 250ms;
/// A 101 says what it switches to (RFC 9110 §15.2.2). HTTP in another form would carry requests past every route: h2c
/// (RFC 7540 §3.2), TLS (RFC 2817).
bool may_tunnel(const http::response_head& head) {
  bool named = false;
  for (const auto& f : head.fields) {
    if (f.id != http::field_id::upgrade) continue;
    for (std::string_view rest = f.value; !rest.empty();) {
      const auto protocol = text::take_member(rest);
      const auto name = protocol.substr(0, protocol.find('/'));
      named |= !name.empty();
      for (const std::string_view carrier : {"h2c", "http", "tls"}) {
        if (http::iequals(name, carrier)) return false;
      }
    }
  }
  return named;
}

}  // namespace

pass_through::pass_through(client_connection& c, const options& o)
    : c_(c),
      options_(o),
      up_(c.w.buffers, c.runtime->pool),
      limit_(c.w.wheel),
      read_limit_(c.w.wheel),
      watch_(c.w.wheel) {
  request_ = memory::take_string();
  limit_.action([this] { break_off(answered_ ? fault::upstream_stalled : fault::upstream_late); });
  read_limit_.action([this] {
    if (broken_off_ == fault::none) broken_off_ = fault::client_late;
    c_.stream.cancel();
    up_.close();
  });
  watch_.action([this] { watch_client(); });
}

pass_through::~pass_through() {
  memory::give_back_string(std::move(request_));
  memory::give_back_string(std::move(piece_));
}

void pass_through::break_off(fault f) {
  if (broken_off_ == fault::none) broken_off_ = f;
  up_.close();
}

/// What has begun is cut, and must not look complete (RFC 9112 §8).
void pass_through::end_of_drain() {
  keep_ = false;
  if (tunnels_ && up_.connection()) up_.connection()->stream.abort();
  break_off(fault::drained);
  if (answered_) {
    c_.stream.abort();
  } else {
    c_.stream.close();
  }
}

/// While the backend works nothing reads from the client; a reset is found by looking now and then.
void pass_through::watch_client() {
  if (c_.stream.reset_by_peer()) {
    c_.gone = true;
    break_off(fault::client_gone);
  } else {
    watch_.after(watch_period);
  }
}

net::task<after> pass_through::run() {
  c_.on_break = [this] { end_of_drain(); };
  auto how = after::abort;
  std::exception_ptr thrown;
  try {
    if (!make_head()) co_return co_await fail(fault::client_malformed);
    upload_whole_ = take_buffered_body();
    if (!co_await open()) co_return co_await fail(fault_);
    limit_.after(options_.response_timeout);
    watch_.after(watch_period);
    if (!upload_whole_) {
      upload_.start(c_.w.io.get_executor(), upload(), [this] { up_.close(); });
    } else if (options_.tap) {
      options_.tap->sent();
    }
    how = co_await answer();
  } catch (...) {
    thrown = std::current_exception();
    c_.stream.abort();
  }
  if (upload_.running()) {
    // an early answer, or a failure: the rest of the request is of no use
    up_.close();
    c_.stream.cancel();
  }
  // It uses what is here, and its end must be waited for whatever has happened.
  co_await upload_.ended();
  if (thrown) std::rethrow_exception(thrown);
  if (!upload_whole_ && how == after::keep) how = after::close;
  co_return how;
}

// -------------------------------------------------------------------------------------------------------- the request

bool pass_through::make_head() {
  const auto& head = c_.parser.head();
  request_framing_ = options_.body_read && head.body.kind == framing_kind::chunked
                         ? http::framing{framing_kind::length, options_.body.size()}
                         : head.body;
  auto edits = forwarding_edits(c_);
  edits.body = request_framing_;
  edits.keep_expect = !options_.body_read;
  edits.keep_upgrade = c_.facts.upgrade;
  edits.keep_trailer = request_framing_.kind == framing_kind::chunked;
  request_.clear();
  const bool ok = http::append_request_head(request_, head, edits);
  if (!options_.body_read) {
    request_body_.reset(request_framing_, head);
    c_.in.consume(c_.parser.head_size());
  }
  awaits_continue_ = c_.facts.expect_continue && !options_.body_read && c_.in.empty();
  return ok;
}

/// Body bytes that came with the head leave with it. True if that was all.
bool pass_through::take_buffered_body() {
  if (options_.body_read) {
    request_ += options_.body;
    return true;
  }
  const auto got = gather_body(request_);
  if (got == body_step::kind::error) broken_off_ = fault::client_malformed;
  return got == body_step::kind::done;
}

/// All that is there of the body, and what it ends with: the client may send it in chunks of a byte each.
body_step::kind pass_through::gather_body(std::string& into) {
  for (;;) {
    const auto step = request_body_.feed(c_.in.view());
    c_.in.consume(step.consumed);
    if (step.type == body_step::kind::data) {
      append_data(into, request_framing_, step.data);
      c_.log.bytes_in += step.data.size();
      if (options_.tap) options_.tap->data(step.data);
      continue;
    }
    const bool last = step.type == body_step::kind::done && request_framing_.kind == framing_kind::chunked;
    if (last) http::append_last_chunk(into, request_body_.trailers());
    return step.type;
  }
}

/// Connects and sends what is there. Another connection is tried only while no byte was written.
net::task<bool> pass_through::open() {
  if (broken_off_ != fault::none) {
    fault_ = broken_off_;
    co_return false;
  }
  fault_ = co_await up_.connect(c_.facts.safe_method ? reuse::watched : reuse::peeked);
  if (fault_ != fault::none) co_return false;
  auto sent = up_.send_now(request_);
  if (up_.write_failed() && !up_.written()) {
    fault_ = co_await up_.connect_fresh();
    if (fault_ != fault::none) co_return false;
    sent = up_.send_now(request_);
    if (up_.write_failed() && !up_.written()) {
      fault_ = fault::upstream_connect;
      co_return false;
    }
  }
  unsent_ = std::string_view(request_).substr(sent);
  if (!unsent_.empty()) upload_whole_ = false;
  co_return true;
}

net::task<void> pass_through::upload() {
  bool ok = unsent_.empty() || co_await up_.send(unsent_);
  bool done = request_body_.done() || options_.body_read;
  while (ok && !done) {
    piece_.clear();
    const auto got = gather_body(piece_);
    if (!piece_.empty()) ok = co_await send_piece();
    done = got == body_step::kind::done;
    if (got == body_step::kind::error) {
      break_off(fault::client_malformed);
      break;
    }
    // once the answer has begun, the limit is that of its body
    if (!answered_) limit_.after(options_.response_timeout);
    if (ok && !done) ok = co_await read_more_of_request();
  }
  upload_whole_ = ok && done;
  if (upload_whole_ && options_.tap) options_.tap->sent();
}

net::task<bool> pass_through::read_more_of_request() {
  // a client that waits for the backend's word is not slow, and the backend's own limit goes on
  if (!awaits_continue_) begin_turn_of_client();
  auto [ec, n] = co_await c_.stream.read_some(c_.in.room());
  awaits_continue_ = false;
  read_limit_.clear();
  if (!answered_) limit_.after(options_.response_timeout);
  if (ec) {
    co_await tell_of_cut_request(ec);
    co_return false;
  }
  c_.in.commit(n);
  co_return true;
}

/// The backend must not wait for the rest. Once it answers, a client that has only ended its sending side still reads.
net::task<void> pass_through::tell_of_cut_request(net::error_code why) {
  if (tunnels_ || broken_off_ != fault::none) co_return;
  if (!answered_) {
    break_off(fault::client_gone);
  } else if (why == asio::error::eof) {
    co_await half_close(up_.connection()->stream);
  } else if (why != asio::error::operation_aborted) {
    break_off(fault::client_gone);
  }
}

/// Only its own limit runs.
void pass_through::begin_turn_of_client() {
  if (!answered_) limit_.clear();
  if (!tunnels_) read_limit_.after(c_.runtime->config->server.timeouts.body_idle);
}

net::task<bool> pass_through::send_piece() {
  const auto sent = up_.send_now(piece_);
  if (sent == piece_.size()) co_return true;
  co_return co_await up_.send(std::string_view(piece_).substr(sent));
}

// --------------------------------------------------------------------------------------------------------- the answer

net::task<after> pass_through::answer() {
  fault_ = co_await heads();
  if (fault_ != fault::none) co_return co_await fail(fault_);
  const auto& head = up_.head();
  status_ = head.status;
  c_.log.status = head.status;
  if (head.status == 101) {
    if (!c_.facts.upgrade || !may_tunnel(head)) co_return co_await fail(fault::upstream_malformed);
    co_return co_await tunnel();
  }
  answered_ = true;
  make_answer_head();
  up_.begin_body();
  co_return co_await body();
}

/// Reads to the final head; interim ones are relayed on the way (RFC 9110 §15.2), and the time for it goes on.
net::task<fault> pass_through::heads() {
  for (unsigned interim = 0;;) {
    const auto f = co_await up_.read_head(c_.facts.head_method ? "HEAD" : "GET");
    if (broken_off_ != fault::none) co_return broken_off_;
    if (f != fault::none) co_return f;
    if (up_.head().status >= 200 || up_.head().status == 101) co_return fault::none;
    if (++interim <= max_interim) {
      const bool relayed = co_await relay_interim();
      if (!relayed) co_return fault::client_gone;
    }
    up_.next_head();
  }
}

net::task<bool> pass_through::relay_interim() {
  // 1.0 knows no interim answers, and 100 is for a client that waits for it: not for one whose body was read already
  const bool waits = c_.facts.expect_continue && !options_.body_read;
  if (c_.facts.minor == 0 || (up_.head().status == 100 && !waits)) co_return true;
  c_.out.clear();
  http::append_response_head(c_.out, up_.head(), {});
  const bool sent = co_await c_.write(c_.out);
  if (up_.head().status == 100 && awaits_continue_) {
    awaits_continue_ = false;
    begin_turn_of_client();
  }
  co_return sent;
}

/// The answer is there before the request is, and will not wait for its end: the client must know that this connection
/// is of no more use (RFC 9112 §9.6). Other answers may go on as long as the request does.
bool pass_through::ends_early() const {
  if (!upload_.running()) return !upload_whole_;  // the backend takes no more of it
  return awaits_continue_ || up_.head().status >= 400 || up_.whole_in_hand();
}

void pass_through::make_answer_head() {
  const auto& head = up_.head();
  if (ends_early()) keep_ = false;
  answer_framing_ = answer_framing(head.body, c_.facts.minor);
  if (answer_framing_.kind == framing_kind::until_close) keep_ = false;
  http::response_edits edits;
  edits.body = answer_framing_;
  edits.close = c_.must_close() || !keep_;
  edits.keep_alive_10 = c_.keep_alive_10() && keep_;
  edits.keep_trailer = answer_framing_.kind == framing_kind::chunked;
  edits.via = c_.runtime->config->server.via;
  keep_ = keep_ && !edits.close;
  c_.out.clear();
  http::append_response_head(c_.out, head, edits);
}

net::task<after> pass_through::body() {
  for (;;) {
    const auto step = up_.next_piece();
    if (step.type == body_step::kind::data) {
      append_data(c_.out, answer_framing_, step.data);
      c_.log.bytes_out += step.data.size();
      continue;
    }
    const bool done = step.type == body_step::kind::done;
    if (done) co_return co_await end_of_answer();
    // each read is forwarded at once, what came before a fault too
    if (!c_.out.empty()) {
      limit_.clear();
      const auto sent = c_.write_now(c_.out);
      if (sent < c_.out.size()) co_await c_.write(std::string_view(c_.out).substr(sent));
      c_.out.clear();
      if (c_.gone) co_return co_await fail(fault::client_gone);
    }
    if (step.type == body_step::kind::error) co_return co_await fail(fault::upstream_malformed);
    limit_.after(c_.runtime->config->upstream.idle_timeout);
    const auto f = co_await up_.read_more();
    if (broken_off_ != fault::none) co_return co_await fail(broken_off_);
    if (f != fault::none) co_return co_await fail(f);
  }
}

net::task<after> pass_through::end_of_answer() {
  limit_.clear();
  watch_.clear();
  if (answer_framing_.kind == framing_kind::chunked) http::append_last_chunk(c_.out, up_.trailers());
  const auto sent = c_.write_now(c_.out);
  if (sent < c_.out.size()) co_await c_.write(std::string_view(c_.out).substr(sent));
  whole_ = true;
  // The upload may be amid a write: its connection is closed for it, and goes when it has ended.
  if (upload_.running()) {
    up_.close();
  } else {
    up_.finish(upload_whole_);
  }
  co_return keep_ ? after::keep : after::close;
}

net::task<after> pass_through::tunnel() {
  http::response_edits edits;
  edits.keep_upgrade = true;
  c_.out.clear();
  http::append_response_head(c_.out, up_.head(), edits);
  up_.next_head();
  // what is left of the request's body is the tunnel's beginning, and a tunnel has no limits of time
  answered_ = tunnels_ = true;
  if (options_.tap) options_.tap->tunnels();
  limit_.clear();
  read_limit_.clear();
  watch_.clear();
  const bool sent = co_await c_.write(c_.out);
  if (sent) co_await run_tunnel(c_, up_, request_sent());
  up_.close();
  co_return after::close;
}

net::task<bool> pass_through::request_sent() {
  co_await upload_.ended();
  co_return upload_whole_;
}

// ------------------------------------------------------------------------------------------------------------ failing

net::task<after> pass_through::fail(fault f) {
  limit_.clear();
  watch_.clear();
  fault_ = broken_off_ != fault::none ? broken_off_ : f;
  up_.close();
  c_.log.fault = row(fault_).label;
  if (fault_ == fault::client_malformed) c_.log.reason = broken_framing;
  if (answered_) {
    c_.log.what = row(fault_).decision;
    co_return after::abort;
  }
  if (c_.gone || fault_ == fault::client_gone) {
    c_.log.what = row(fault::client_gone).decision;
    co_return after::abort;
  }
  problem p(row(fault_).answer);
  if (fault_ == fault::client_malformed)
    p.detail = "The request's body breaks its framing; it was not passed on as a whole.";
  // Without a record nothing tells whether a second request would execute again, unless nothing was written.
  if (up_.written() == false && row(fault_).upstream_side) p.safe_new_key = true;
  c_.log.what = row(fault_).decision;
  const bool client_side = fault_ == fault::client_malformed || fault_ == fault::client_late;
  co_return co_await c_.answer(std::move(p), client_side || !upload_whole_ ? after::close : after::keep);
}

}  // namespace idem::proxy
