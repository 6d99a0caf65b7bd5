// How a claimed call ends: the record first, then the client's last byte.
#include <algorithm>

#include "idem/memory/block_pool.hpp"
#include "proxy/aftermath.hpp"
#include "proxy/claimed_call.hpp"
#include "proxy/decisions.hpp"
#include "proxy/foreign_record.hpp"
#include "proxy/forwarding.hpp"
#include "proxy/stored_answer.hpp"

namespace idem::proxy {

using http::framing_kind;
using idempotency::next;
using idempotency::settlement;

/// The rest of the answer, or all of it in one piece. `mark` is a value for Idempotency-Status, or empty.
net::task<after> claimed_call::send_last(std::string_view mark) {
  // The record is settled, or owed: what is left is its client's affair, and needs no place of those that execute.
  claim_->end_flight();
  if (client_done_) co_return after::close;
  std::string bytes = memory::take_string();
  if (!streaming_) {
    const bool describes = from_.kind == framing_kind::none;
    const bool trails = from_.kind == framing_kind::chunked && c_.facts.minor >= 1 && !up_.trailers().empty();
    to_ = describes ? from_ : http::framing{framing_kind::length, body_.size()};
    if (trails) to_ = {framing_kind::chunked};
    close_ = c_.must_close();
    bytes.swap(lines_);
    std::string extra;
    if (!mark.empty()) ((extra += "Idempotency-Status: ") += mark) += "\r\n";
    end_answer_head(bytes, c_, to_, close_, extra);
    if (!body_.empty()) append_data(bytes, to_, body_);
    if (trails) http::append_last_chunk(bytes, up_.trailers());
  } else {
    if (!held_.empty()) append_data(bytes, to_, held_);
    if (to_.kind == framing_kind::chunked) {
      std::string trailers = up_.trailers();
      if (!mark.empty() && mark != "bypassed") ((trailers += "Idempotency-Status: ") += mark) += "\r\n";
      http::append_last_chunk(bytes, trailers);
    }
  }
  sender_.send(bytes);
  // what the client has not taken yet is the sender's, and the client may take its time
  memory::give_back_string(std::move(bytes));
  memory::give_back_string(std::move(body_));
  said_all_ = true;
  if (broken_off_ == fault::drained) end_of_drain();
  co_await sender_.drained();
  co_return close_ ? after::close : after::keep;
}

net::task<after> claimed_call::send_found() {
  claim_->end_flight();
  if (client_done_) co_return after::close;
  if (streaming_) co_return after::abort;
  co_await sender_.drained();
  auto& engine = claim_->engine;
  const next n = engine.answer_found();
  if (n != next::replay && n != next::status_only) {
    warn_if_foreign(*claim_, *c_.route->route);
    c_.log.what = decision_of(engine.refusal().code);
    co_return co_await c_.answer(engine.refusal(), after::keep);
  }
  answer_from_record(c_, engine.found().value, n == next::status_only);
  const bool sent = co_await c_.write(c_.out);
  co_return !sent || c_.must_close() ? after::close : after::keep;
}

// ------------------------------------------------------------------------------------------------------------ settling

void claimed_call::owe(std::size_t bytes) { c_.w.aftermath->keep_settling(claim_, bytes); }

/// answer.success may read the body, which is there now: whole, or too large, encoded or endless, when the status alone
/// has decided.
void claimed_call::judge_body() {
  if (gone_ || encoded_ || !capture_ || !route_.success.given()) return;
  settlement_ = idempotency::settle_answer(route_, status_, body_);
  keeps_ = settlement_ == settlement::succeed || settlement_ == settlement::fail;
}

net::task<after> claimed_call::settle_answer() {
  judge_body();
  using idempotency::settled_as;
  using telemetry::decision;
  auto& lost = c_.w.metrics.lost_completions;
  if (superseded_) {
    up_.close();
    lost.fetch_add(1, std::memory_order_relaxed);
    co_return co_await send_found();
  }
  auto& engine = claim_->engine;
  const idempotency::answer whole{status_, block_, body_};
  auto what = engine.taken_over() ? decision::taken_over : decision::executed;
  next n = next::settled;
  switch (settlement_) {
    case settlement::succeed:
    case settlement::fail: {
      using enum idempotency::record_state;
      if (!without_body_) n = engine.complete(settlement_ == settlement::succeed ? succeeded : failed_final, whole);
      if (without_body_ && !x_stored_) n = complete_without_body();
      break;
    }
    case settlement::release:
      released_ = true;
      claim_->stop_renewing();  // a renewal behind the release would bring the record back
      n = engine.release();
      what = decision::released;
      break;
    case settlement::declare:
      n = engine.declare();
      what = decision::declared;
      break;
  }
  if (bypass_) {
    if (n == next::submit) owe(body_.size());
    c_.log.what = decision::bypassed;
    co_return co_await send_last("bypassed");
  }
  if (n == next::submit) co_await claim_->drive(n);
  const auto result = n == next::submit ? engine.settlement_result() : settled_as::stored;
  if (result != settled_as::not_stored) claim_->stop_renewing();
  if (result == settled_as::recreated) c_.w.metrics.recreated.fetch_add(1, std::memory_order_relaxed);
  if (keeps_ && engine.lost_its_key()) {
    lost.fetch_add(1, std::memory_order_relaxed);
    co_return co_await send_found();
  }
  if (result == settled_as::not_stored) {
    owe(body_.size());
    c_.log.what = decision::not_stored;
    co_return co_await send_last("not-stored");
  }
  c_.log.what = what;
  co_return co_await send_last("");
}

net::task<void> claimed_call::settle_or_owe(next n) {
  if (!bypass_) co_await claim_->drive(n);
  if (bypass_ || claim_->engine.settlement_result() == idempotency::settled_as::not_stored) {
    owe(0);
  } else {
    claim_->stop_renewing();
  }
}

net::task<after> claimed_call::answer_connect_failure() {
  const auto f = fault_;
  c_.log.fault = row(f).label;
  c_.log.what = row(f).decision;
  idempotency::problem p(idempotency::problem_code::upstream_unavailable);
  // what a store that could not be read says of this key, nobody knows
  p.safe_new_key = claim_->engine.own().attempt == 1 && !bypass_;
  released_ = true;
  claim_->stop_renewing();  // a renewal behind the release would bring the record back
  if (!bypass_ || claim_->stands_in_store()) {
    co_await settle_or_owe(claim_->engine.release());
  } else {
    claim_->settled_past_store();
  }
  response_limit_.clear();
  co_await sender_.drained();
  if (client_done_) co_return co_await leave(after::close);
  if (!bypass_ && claim_->engine.found_answer()) co_return co_await leave(co_await send_found());
  // while this process stood still others had the key, and may have executed
  if (!bypass_ && claim_->engine.lost_its_key()) p.safe_new_key = false;
  co_return co_await leave(co_await c_.answer(std::move(p), after::keep));
}

/// No whole answer: what was written may have been executed.
net::task<after> claimed_call::settle_failure(fault f) {
  auto& engine = claim_->engine;
  up_.close();
  c_.log.fault = row(f).label;
  next n = next::settled;
  if (without_body_ && route_.guarantee == config::guarantee::at_most_once) {
    if (!x_stored_) n = complete_without_body();
  } else {
    released_ = idempotency::settle_without_answer(up_.written()) == settlement::release;
    if (released_) claim_->stop_renewing();
    n = released_ ? engine.release() : engine.declare();
  }
  if (n == next::submit) co_await settle_or_owe(n);
  claim_->end_flight();
  if (client_done_) co_return after::close;
  c_.log.what = row(f).decision;
  if (streaming_) co_return after::abort;
  // the key has an answer by now, from another attempt or by an operator's word: the next retry would get it, too
  if (n == next::submit && engine.found_answer()) co_return co_await send_found();
  idempotency::problem p(row(f).answer);
  p.retryable = p.retryable || route_.guarantee == config::guarantee::at_least_once;
  co_await sender_.drained();
  co_return co_await c_.answer(std::move(p), after::keep);
}

/// The exchange is over for the client; what is owed to the store goes on without it.
net::task<after> claimed_call::leave(after how) {
  response_limit_.clear();
  processing_limit_.clear();
  // A completion that is still owed must not meet a release of its own token.
  if (released_) claim_->engine.give_up();
  c_.w.aftermath->release_abandoned(claim_);
  claim_->end_flight();
  c_.log.store = claim_->store_time;
  // A write that is under way uses the sender's buffer.
  if (how == after::abort) sender_.abort();
  co_await sender_.drained();
  co_return how;
}

}  // namespace idem::proxy
