#include "proxy/idempotent_exchange.hpp"

#include <exception>

#include "idem/http/body.hpp"
#include "idem/idempotency/own_fields.hpp"
#include "idem/idempotency/webhook_signature.hpp"
#include "proxy/aftermath.hpp"
#include "proxy/claimed_call.hpp"
#include "proxy/decisions.hpp"
#include "proxy/foreign_record.hpp"
#include "proxy/forwarding.hpp"
#include "proxy/pass_through.hpp"
#include "proxy/stored_answer.hpp"
#include "proxy/waiters.hpp"

namespace idem::proxy {

using http::body_step;
using http::framing_kind;
using idempotency::identity_kind;
using idempotency::next;
using idempotency::problem;
using idempotency::problem_code;
using telemetry::decision;

idempotent_exchange::idempotent_exchange(client_connection& c, const config::path_captures& captures)
    : c_(c), captures_(captures), route_(c.route->route->idempotency) {}

/// What is still owed to the store holds the claim, for as long as the store is away.
idempotent_exchange::~idempotent_exchange() {
  if (claim_) claim_->engine.forget_found();
}

idempotency::request_view idempotent_exchange::view() const {
  auto v = caller_->view(c_.parser.head(), captures_);
  v.body = body_;
  v.body_known = body_known_;
  return v;
}

/// The gate has refused this for the fields that matter on every route.
std::optional<problem> idempotent_exchange::check_connection() const {
  if (!idempotency::connection_names_own_field(route_, c_.parser.head())) return std::nullopt;
  problem p(problem_code::malformed_request);
  p.detail = "Connection names a field that the key, the caller or the signature of this request is read from.";
  p.close = true;
  return p;
}

/// Before the claim: what the sender did not sign must not use up an event's key.
std::optional<problem> idempotent_exchange::check_signature() const {
  if (!route_.signature.enabled()) return std::nullopt;
  const auto why = idempotency::signature_fault(route_.signature, c_.parser.head(), body_, unix_seconds_now());
  if (!why) return std::nullopt;
  problem p(problem_code::bad_signature);
  p.detail = *why;
  return p;
}

std::optional<idempotency::fingerprint> idempotent_exchange::under(std::uint16_t version, std::uint32_t settings) {
  // the head's bytes are gone by then: not comparable is safe, a digest of something else is not
  if (finished_input_) return std::nullopt;
  return c_.runtime->known->compute(version, settings, view());
}

/// The request's bytes are used up; what follows them belongs to the next one. Views of the head end here.
void idempotent_exchange::finish_input() {
  if (finished_input_) return;
  finished_input_ = true;
  if (carried_) {
    c_.in.assign(carry_);
  } else {
    c_.in.consume(used_);
  }
}

// ------------------------------------------------------------------------------------------------------------- the way

net::task<after> idempotent_exchange::run() {
  const auto& prefix = c_.runtime->config->store.redis.key_prefix;
  used_ = c_.parser.head_size();
  if (auto hidden = check_connection()) {
    c_.log.reason = "Connection names a field that identifies the request";
    co_return co_await refuse(std::move(*hidden));
  }
  caller_.emplace(c_);
  identity_ = identify(route_, prefix, view());
  if (identity_.kind == identity_kind::refused) co_return co_await refuse(std::move(*identity_.refusal));
  // what must be signed must be so with a key or without
  const bool verifies = route_.signature.enabled();
  if (!verifies && (identity_.kind == identity_kind::keyless || identity_.kind == identity_kind::unverified))
    co_return co_await pass();
  if (too_long_announced()) co_return co_await body_failed(body_result::too_large);
  if (const auto r = co_await read_body(); r != body_result::whole) co_return co_await body_failed(r);
  if (identity_.kind == identity_kind::need_body) {
    identity_ = identify(route_, prefix, view());
    if (identity_.kind == identity_kind::refused) co_return co_await refuse(std::move(*identity_.refusal));
  }
  if (auto forged = check_signature()) co_return co_await refuse(std::move(*forged));
  if (identity_.kind != identity_kind::keyed) co_return co_await pass();
  if (telemetry::access_log_on()) c_.log.key_hash = identity_.hash();
  claim_ = make_claim(c_.w, c_.runtime, *c_.route, std::move(identity_), view(), *this);
  co_return co_await claim_and_go();
}

net::task<after> idempotent_exchange::refuse(problem p) {
  c_.log.what = decision_of(p.code);
  // A body that is here already can be stepped over; one that is still to come would have to be read for nothing.
  const bool in_hand = body_known_ || body_in_hand();
  if (in_hand && !body_known_) co_await read_body();
  const auto then = in_hand && !p.close ? after::keep : after::close;
  const auto how = co_await c_.answer(std::move(p), then);
  finish_input();
  co_return how;
}

net::task<after> idempotent_exchange::pass() {
  pass_through::options o;
  o.response_timeout = c_.route->route->response_timeout;
  if (body_known_) {
    o.body = body_;
    o.body_read = true;
  }
  pass_through exchange(c_, o);
  const auto how = co_await exchange.run();
  if (body_known_) finish_input();
  co_return how;
}

// ------------------------------------------------------------------------------------------------------------ the body

bool idempotent_exchange::too_long_announced() const {
  const auto& plan = c_.parser.head().body;
  return plan.kind == framing_kind::length && plan.length > route_.max_request_body;
}

bool idempotent_exchange::body_in_hand() const {
  const auto& plan = c_.parser.head().body;
  if (!plan.has_body()) return true;
  return plan.kind == framing_kind::length && c_.in.view().size() - used_ >= plan.length;
}

/// The client waits for 100 before it sends; the refusals that need no body have been made.
net::task<bool> idempotent_exchange::say_continue() {
  if (!c_.facts.expect_continue || c_.in.view().size() > used_) co_return true;
  co_return co_await c_.write("HTTP/1.1 100 Continue\r\n\r\n");
}

net::task<idempotent_exchange::body_result> idempotent_exchange::read_body() {
  const auto& plan = c_.parser.head().body;
  body_known_ = true;
  if (body_in_hand()) {
    body_ = plan.has_body() ? c_.in.view().substr(used_, plan.length) : std::string_view{};
    used_ += body_.size();
    c_.log.bytes_in = body_.size();
    co_return body_result::whole;
  }
  body_known_ = false;
  if (!co_await say_continue()) co_return body_result::gone;
  const auto r = co_await read_rest();
  body_ = body_store_;
  body_known_ = r == body_result::whole;
  c_.log.bytes_in = body_.size();
  co_return r;
}

/// Reads through a buffer of its own: the head's views must stay where they are.
net::task<idempotent_exchange::body_result> idempotent_exchange::read_rest() {
  http::body_decoder decoder(c_.parser.head().body);
  auto scratch = c_.w.buffers.take();
  bool late = false;
  net::deadline limit(c_.w.wheel, [&] {
    late = true;
    c_.stream.cancel();
  });
  std::string_view input = c_.in.view().substr(used_);
  carried_ = true;
  for (;;) {
    const auto step = decoder.feed(input);
    input.remove_prefix(step.consumed);
    switch (step.type) {
      case body_step::kind::data:
        if (body_store_.size() + step.data.size() > route_.max_request_body) co_return body_result::too_large;
        body_store_ += step.data;
        continue;
      case body_step::kind::error: co_return body_result::malformed;
      case body_step::kind::done: carry_ = input; co_return body_result::whole;
      case body_step::kind::need_more: break;
    }
    limit.after(c_.runtime->config->server.timeouts.body_idle);
    auto [ec, n] = co_await c_.stream.read_some(net::asio::buffer(scratch.get(), net::buffer_pool::size));
    if (late) co_return body_result::late;
    if (ec) co_return body_result::gone;
    input = {scratch.get(), n};
  }
}

net::task<after> idempotent_exchange::body_failed(body_result r) {
  switch (r) {
    case body_result::too_large:
      c_.log.what = decision::too_large;
      co_return co_await c_.answer(problem(problem_code::request_too_large), after::close);
    case body_result::malformed: {
      c_.log.what = decision::malformed;
      c_.log.reason = broken_framing;
      problem p(problem_code::malformed_request);
      p.detail = "The request's body breaks its framing.";
      co_return co_await c_.answer(std::move(p), after::close);
    }
    case body_result::late:
      c_.log.what = decision::timed_out;
      co_return co_await c_.answer(problem(problem_code::request_timeout), after::close);
    default: c_.log.what = decision::client_gone; co_return after::abort;
  }
}

// ----------------------------------------------------------------------------------------------------------- the claim

net::task<after> idempotent_exchange::claim_and_go() {
  // a claim now would come between the call that was let past the store and its completion
  if (c_.w.remembers(route_.name_space) && claim_->runs_past_store()) {
    give_up();
    co_return co_await refuse_known_here();
  }
  const auto n = co_await acquire();
  if (n != next::execute && n != next::bypass) co_return co_await act(n);
  if (!claim_->take_place(c_.runtime->config->server.max_in_flight)) {
    // others were faster
    const bool seen = n == next::bypass || claim_->engine.own().attempt > 1;
    co_await withdraw(n);
    co_return co_await refuse(idempotency::busy_problem(seen));
  }
  // asked again: a configuration can have come meanwhile
  if (c_.w.remembers(route_.name_space) && !claim_->remember_name(n == next::bypass)) {
    co_await withdraw(n);
    co_return co_await refuse_known_here();
  }
  co_return co_await act(n);
}

/// The key is not executed after all, and nothing was sent: whoever comes next may have it. A release that the store
/// did not take is repeated as those of all tokens that are given up.
net::task<void> idempotent_exchange::withdraw(next n) {
  if (n == next::execute) co_await claim_->drive(claim_->engine.release());
  give_up();
}

/// This process has the key in flight or in its backlog, whatever the store can say of it.
net::task<after> idempotent_exchange::refuse_known_here() {
  problem p(problem_code::store_unavailable);
  p.retry_after = 1;
  co_return co_await refuse(std::move(p));
}

/// Past the limit nothing is claimed; what has a record is answered from it. A place is taken only by what executes.
net::task<next> idempotent_exchange::claim_once() {
  const auto place = claim_->room_left(c_.runtime->config->server.max_in_flight);
  co_return co_await claim_->drive(claim_->engine.start(net::lease_clock::now(), unix_ms_now(), place));
}

net::task<next> idempotent_exchange::acquire() {
  auto n = co_await claim_once();
  if (n == next::wait) n = co_await wait_for_change(n);
  co_return n;
}

net::task<next> idempotent_exchange::wait_for_change(next n) {
  auto& places = *c_.w.waiters;
  const waiters::seat seat(places, claim_->engine.name(), route_.in_flight.max_waiters);
  if (!seat.taken()) co_return next::refuse;
  waited_ = true;
  const auto until = net::deadline::clock::now() + route_.in_flight.wait;
  while (n == next::wait) {
    const auto why = co_await places.wait(claim_->engine.name(), until, c_.stream);
    if (why == waiters::woken::client_gone) c_.gone = true;
    if (why == waiters::woken::client_gone || why == waiters::woken::drained) break;
    n = co_await claim_once();
    c_.w.aftermath->release_abandoned(claim_);
    if (why == waiters::woken::deadline && n == next::wait) break;
  }
  co_return n;
}

net::task<after> idempotent_exchange::act(next n) {
  switch (n) {
    case next::execute: co_return co_await execute(false);
    case next::bypass: co_return co_await execute(true);
    case next::replay: co_return co_await replay(false);
    case next::status_only: co_return co_await replay(true);
    default: co_return co_await refuse_duplicate();
  }
}

/// The token of this claim is not used any more; what of it may still land is released in the background.
void idempotent_exchange::give_up() {
  claim_->engine.give_up();
  c_.w.aftermath->release_abandoned(claim_);
  claim_->end_flight();
  c_.log.store = claim_->store_time;
}

net::task<after> idempotent_exchange::refuse_duplicate() {
  give_up();
  warn_if_foreign(*claim_, *c_.route->route);
  co_return co_await refuse(claim_->engine.refusal());
}

net::task<after> idempotent_exchange::replay(bool status_only) {
  give_up();
  const auto& record = claim_->engine.found().value;
  answer_from_record(c_, record, status_only);
  finish_input();
  c_.log.attempt = record.owner.attempt;
  if (waited_ && !status_only) c_.log.what = decision::waited;
  const auto sent = c_.write_now(c_.out);
  if (sent < c_.out.size()) co_await c_.write(std::string_view(c_.out).substr(sent));
  co_return c_.must_close() ? after::close : after::keep;
}

void idempotent_exchange::append_upstream_request(std::string& out) const {
  const auto& head = c_.parser.head();
  auto edits = forwarding_edits(c_);
  edits.body = head.body.kind == framing_kind::chunked ? http::framing{framing_kind::length, body_.size()} : head.body;
  const auto attempt = std::to_string(claim_->engine.own().attempt);
  if (route_.attempt_header) edits.attempt = attempt;
  out.reserve(out.size() + c_.parser.head_size() + body_.size() + 128);
  http::append_request_head(out, head, edits);
  out += body_;
}

net::task<after> idempotent_exchange::execute(bool bypass) {
  claimed_call call(c_, claim_, [this](std::string& out) { append_upstream_request(out); }, bypass);
  std::exception_ptr thrown;
  try {
    const auto n = co_await call.prepare();
    if (n != next::execute) {
      // The key was settled by others before a byte was sent.
      if (call.client_done()) {
        give_up();
        finish_input();
        co_return after::close;
      }
      co_return co_await act(n == next::wait ? next::refuse : n);
    }
    finish_input();
    if (call.connect_failed()) co_return co_await call.answer_connect_failure();
    co_return co_await call.run();
  } catch (...) {
    thrown = std::current_exception();
  }
  call.cut_off();
  co_await call.upload_ended();
  co_await call.record_left();
  co_await call.answer_left();
  std::rethrow_exception(thrown);
}

}  // namespace idem::proxy
