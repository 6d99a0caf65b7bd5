#include "proxy/observation.hpp"

#include <exception>

#include "idem/idempotency/own_fields.hpp"
#include "idem/idempotency/webhook_signature.hpp"
#include "idem/memory/block_pool.hpp"
#include "proxy/aftermath.hpp"
#include "proxy/decisions.hpp"
#include "proxy/foreign_record.hpp"

namespace idem::proxy {

using http::framing_kind;
using idempotency::identity_kind;
using idempotency::next;
using idempotency::settlement;
using telemetry::decision;

namespace {

std::string_view prefix_of(const runtime& r) { return r.config->store.redis.key_prefix; }

http::head_limits head_limits_of(const runtime& r) {
  const auto& s = r.config->server;
  return {s.header_limit, s.header_fields, s.uri_limit};
}

bool announces_too_much(const config::idempotency_config& route, const http::framing& body) {
  return body.kind == framing_kind::length && body.length > route.max_request_body;
}

/// A decision of the engine, as what it is here.
decision observed(next n, const idempotency::engine& engine) {
  switch (n) {
    case next::execute: return decision::observed_execute;
    case next::replay:
    case next::status_only: return decision::observed_replay;
    case next::refuse:
    case next::wait: return observed_decision_of(engine.refusal().code);
    default: return decision::observed_other;
  }
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------ the copy

std::shared_ptr<observation> observation::of(client_connection& c, const config::path_captures& captures) {
  const auto& route = c.route->route->idempotency;
  const auto& head = c.parser.head();
  const auto would_be_refused = [&c] {
    c.log.what = decision::observed_other;
    return nullptr;
  };
  if (idempotency::connection_names_own_field(route, head)) return would_be_refused();
  caller who(c);
  auto id = identify(route, prefix_of(*c.runtime), who.view(head, captures));
  if (id.kind == identity_kind::refused) return would_be_refused();
  if (id.kind == identity_kind::keyless || id.kind == identity_kind::unverified) return nullptr;
  if (announces_too_much(route, head.body)) return would_be_refused();
  return std::allocate_shared<observation>(memory::block_allocator<observation>(), c, std::move(who), std::move(id));
}

observation::observation(client_connection& c, caller who, idempotency::identity id)
    : c_(c),
      w_(c.w),
      route_(*c.route),
      runtime_(c.runtime),
      caller_(std::move(who)),
      identity_(std::move(id)),
      head_(memory::take_string()),
      body_(memory::take_string()),
      parser_(head_limits_of(*c.runtime)) {
  head_ = c.in.view().substr(0, c.parser.head_size());
}

observation::~observation() { drop_copy(); }

void observation::data(std::string_view piece) {
  if (too_large_ || settlement_) return;
  too_large_ = body_.size() + piece.size() > route_.route->idempotency.max_request_body;
  if (too_large_) return drop_copy();
  body_ += piece;
}

void observation::drop_copy() {
  memory::give_back_string(std::move(head_));
  memory::give_back_string(std::move(body_));
}

/// The connection's own views ended when the first bytes were read behind the head.
void observation::read_copy() {
  parser_.parse(head_);
  const auto& head = parser_.head();
  route_.route->match.matches(head.method, head.authority, head.path, captures_);
}

idempotency::request_view observation::view() const {
  auto v = caller_.view(parser_.head(), captures_);
  v.body = body_;
  v.body_known = true;
  return v;
}

std::optional<idempotency::fingerprint> observation::under(std::uint16_t version, std::uint32_t settings) {
  // the copy is gone by then: not comparable is safe, a digest of something else is not
  if (settlement_) return std::nullopt;
  return runtime_->known->compute(version, settings, view());
}

// ----------------------------------------------------------------------------------------------------------- the claim

void observation::sent() {
  if (too_large_ || settlement_) return;
  read_copy();
  if (!comes_to_a_claim() || w_.aftermath->crowded()) return;
  if (c_.log.has_line()) key_hash_ = identity_.hash();
  claim_ = make_claim(w_, runtime_, route_, std::move(identity_), view(), *this);
  w_.aftermath->see_through(net::keeping(shared_from_this(), ask_store()));
}

bool observation::comes_to_a_claim() {
  const auto& route = route_.route->idempotency;
  if (identity_.kind == identity_kind::need_body) identity_ = identify(route, prefix_of(*runtime_), view());
  if (identity_.kind == identity_kind::keyless) what_ = decision::passed;
  if (identity_.kind != identity_kind::keyed) return false;
  return !idempotency::signature_fault(route.signature, parser_.head(), body_, unix_seconds_now());
}

net::task<void> observation::ask_store() {
  auto& engine = claim_->engine;
  const auto n = co_await claim_->drive(engine.start(net::lease_clock::now(), unix_ms_now()));
  warn_if_foreign(*claim_, *route_.route);
  what_ = observed(n, engine);
  decided_ = true;
  owned_ = n == next::execute;
  if (settlement_) {
    co_await settle();  // the answer was faster
  } else if (owned_) {
    claim_->start_renewing();
  }
}

// ------------------------------------------------------------------------------------------------------------- the end

/// Enforced, the wish would have been ignored, and what the answer would have been nobody knows. A tunnel may last for
/// days, and so long nothing is held.
void observation::tunnels() { conclude(settlement::release); }

void observation::end(const pass_through& exchange) {
  ended_ = true;
  if (!claim_) {
    if (c_.log.what == decision::passed) c_.log.what = what_;
    return;
  }
  log_ = c_.log.hand_over();
  if (settled_) return write_log();
  status_ = exchange.status();
  conclude(exchange.whole() ? idempotency::settle_answer(route_.route->idempotency, status_)
                            : idempotency::settle_without_answer(exchange.bytes_written()));
}

/// Settles now, or when the store has answered to the claim.
void observation::conclude(settlement s) {
  if (settlement_) return;
  settlement_ = s;
  drop_copy();
  if (decided_) w_.aftermath->see_through(net::keeping(shared_from_this(), settle()));
}

/// A record without the answer: enough to tell what a duplicate would have got.
net::task<void> observation::settle() {
  auto& engine = claim_->engine;
  claim_->stop_renewing();
  if (owned_) {
    const idempotency::answer none{status_, "\r\n", {}};
    auto n = next::settled;
    switch (*settlement_) {
      case settlement::succeed: n = engine.complete(idempotency::record_state::succeeded, none); break;
      case settlement::fail: n = engine.complete(idempotency::record_state::failed_final, none); break;
      case settlement::release: n = engine.release(); break;
      case settlement::declare: n = engine.declare(); break;
    }
    co_await claim_->drive(n);
  }
  engine.give_up();
  w_.aftermath->release_abandoned(claim_);
  settled_ = true;
  if (ended_) write_log();
}

/// What the exchange came to by itself, such as a backend that is away, says more than what would have been decided.
void observation::write_log() {
  if (log_.what == decision::passed) log_.what = what_;
  log_.key_hash = std::move(key_hash_);
  log_.store = claim_->store_time;
  log_.end();
}

net::task<after> run_observed(client_connection& c, const config::path_captures& captures) {
  const auto seen = observation::of(c, captures);
  pass_through::options o;
  o.response_timeout = c.route->route->response_timeout;
  o.tap = seen.get();
  pass_through exchange(c, o);
  auto how = after::abort;
  std::exception_ptr thrown;
  try {
    how = co_await exchange.run();
  } catch (...) {
    thrown = std::current_exception();
  }
  if (seen) seen->end(exchange);  // in every case: it uses the connection till then
  if (thrown) std::rethrow_exception(thrown);
  co_return how;
}

}  // namespace idem::proxy
