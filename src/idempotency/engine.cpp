#include "idem/idempotency/engine.hpp"

#include <algorithm>

#include "idem/memory/block_pool.hpp"

namespace idem::idempotency {

namespace {

/// Claims that found nothing before the answer is "in progress".
constexpr unsigned max_tries = 3;
/// A claim without a reply is tried once more: two command timeouts are the longest that a client waits for a store.
constexpr unsigned max_unanswered = 2;
/// A bound against records that change under every look.
constexpr unsigned max_rounds = 12;

unsigned whole_seconds(milliseconds t) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, (t.count() + 999) / 1000));
}

}  // namespace

engine::engine(setup s) : setup_(std::move(s)), value_(memory::take_string()) {}

engine::~engine() {
  memory::give_back_string(std::move(setup_.name));
  memory::give_back_string(std::move(value_));
  memory::give_back_string(std::move(renew_value_));
  memory::give_back_string(std::move(found_text_));
}

void engine::make(std::string& into, record_state state, const owner& o, const answer& a) const {
  record r;
  r.state = state;
  r.owner = o;
  r.lease = setup_.route->lease;
  r.hold = hold();
  r.retention = retention();
  r.guarantee = setup_.route->guarantee;
  r.created = created_;
  r.fingerprint = setup_.print;
  r.status = a.status;
  r.header_block = a.header_block;
  r.body = a.body;
  into.clear();
  encode_to(into, r);
}

next engine::refuse(problem p) {
  refusal_ = std::move(p);
  phase_ = phase::ended;
  return next::refuse;
}

// ------------------------------------------------------------------------------------------------------------- acquire

next engine::start(clock::time_point now, std::int64_t unix_ms, room place) {
  if (phase_ != phase::idle) give_up();
  place_ = place;
  unix_ms_ = unix_ms;
  refusal_.reset();
  foreign_ = false;
  tries_ = unanswered_tries_ = rounds_ = 0;
  return start_over(now);
}

void engine::own(owner o) {
  owner_ = o;
  renewal_under_way_ = releasing_ = false;
}

/// A claim with a token of its own.
next engine::start_over(clock::time_point now) {
  own(owner::fresh(1));
  created_ = unix_ms_;
  make(value_, record_state::processing, owner_);
  clock_ = now;
  return place_ == room::yes ? submit_claim(now) : look(now);
}

next engine::submit_claim(clock::time_point now) {
  if (++rounds_ > max_rounds) return in_progress(std::nullopt);
  return submit({.what = op::claim, .name = setup_.name, .value = value_, .ttl = life_of_claim()}, phase::claiming,
                now);
}

next engine::submit(const command& c, phase waiting_for, clock::time_point now) {
  command_ = c;
  phase_ = waiting_for;
  sent_at_ = now;
  return next::submit;
}

/// A command that was sent and had no reply can still land. It may have waited for a connection before it was sent, so
/// the time counts from when it was given up.
void engine::unanswered(const reply& r, clock::time_point now) {
  if (r.what == verdict::unavailable && r.sent) last_unanswered_ = now;
}

next engine::resume(reply r, clock::time_point now, std::int64_t unix_ms) {
  unix_ms_ = unix_ms;
  const next n = on_reply(r, now);
  memory::give_back_string(std::move(r.value));
  return n;
}

next engine::on_reply(reply& r, clock::time_point now) {
  switch (phase_) {
    case phase::claiming: return on_claim(r, now);
    case phase::looking: return on_look(r, now);
    case phase::taking_over: return on_take_over(r, now);
    case phase::renewing: return on_renewed_before_send(r, now);
    case phase::settling: return on_settled(r, now);
    case phase::idle:
    case phase::owned:
    case phase::ended: break;
  }
  return refuse(problem(problem_code::store_unavailable));
}

next engine::on_claim(reply& r, clock::time_point now) {
  switch (r.what) {
    case verdict::found: return on_found(r, false, now);
    case verdict::absent: return claim_again(now);
    case verdict::unavailable:
      unanswered(r, now);
      read_ = read_ || r.read;
      // Other owners could not renew either: what the next try finds lapsed may be alive.
      store_was_troubled(now);
      if (r.sent && ++unanswered_tries_ < max_unanswered) return submit_claim(now);
      return store_gone(true);
    default: return store_gone(true);
  }
}

/// The record expired between two steps: the same token again, a few times.
next engine::claim_again(clock::time_point now) {
  if (place_ == room::no) return refuse(busy_problem(false));
  if (++tries_ < max_tries) return submit_claim(now);
  return in_progress(std::nullopt);
}

next engine::store_gone(bool may_bypass) {
  if (may_bypass && !read_ && setup_.route->on_store_error == config::store_error_policy::allow) {
    phase_ = phase::owned;
    return next::bypass;
  }
  problem p(problem_code::store_unavailable);
  p.retry_after = 1;
  return refuse(std::move(p));
}

next engine::leave_foreign() {
  foreign_ = true;
  return store_gone(false);
}

/// A mismatch is decided before anything else about a found record.
std::optional<next> engine::compare_fingerprint() {
  const fingerprint& theirs = found_.value.fingerprint;
  fingerprint mine = setup_.print;
  if (!mine.comparable(theirs)) {
    auto other = setup_.others ? setup_.others->under(theirs.version, theirs.settings) : std::nullopt;
    if (!other) return refuse(problem(problem_code::fingerprint_unknown));
    mine = *other;
  }
  if (mine.digest == theirs.digest) return std::nullopt;
  problem p(problem_code::key_reused);
  p.status = setup_.route->mismatch_status;
  return refuse(std::move(p));
}

next engine::on_found(reply& r, bool confirmed, clock::time_point now) {
  // State, attempt and token of our own: nobody else writes them, so there is nothing more to read.
  if (r.value.compare(0, prefix_size, value_, 0, prefix_size) == 0) {
    if (r.ttl == reply::no_record) return claim_again(now);
    phase_ = phase::owned;
    return next::execute;
  }
  found_text_ = std::move(r.value);
  found_ = decode(found_text_);
  const bool readable = found_.result == decode_result::ok;
  read_ = true;
  if (found_.result == decode_result::foreign) return leave_foreign();
  if (!readable) return refuse(problem(problem_code::answer_not_kept));
  if (auto mismatch = compare_fingerprint()) return *mismatch;
  return by_state(r.ttl, confirmed, now);
}

void engine::forget_found() {
  if (found_text_.empty()) return;
  found_ = {};
  memory::give_back_string(std::move(found_text_));
}

next engine::by_state(std::int64_t ttl, bool confirmed, clock::time_point now) {
  const auto state = found_.value.state;
  if (state == record_state::succeeded || state == record_state::failed_final) {
    phase_ = phase::ended;
    return next::replay;
  }
  if (state == record_state::without_body) {
    if (setup_.route->oversize == config::oversize_policy::status_only && found_.value.status != 0) {
      phase_ = phase::ended;
      return next::status_only;
    }
    return refuse(problem(problem_code::answer_not_kept));
  }
  // P, U and R are dated by their time to live
  if (ttl == reply::not_asked) return look(now);
  if (ttl == reply::no_record) return claim_again(now);
  if (ttl == reply::no_expiry) return outcome_unknown(false);
  if (state == record_state::revoked) return in_progress(milliseconds(ttl));
  if (state == record_state::unknown) return decide_unknown(false, now);
  return decide_processing(ttl, confirmed, now);
}

/// Reads the record and its time to live in one step.
next engine::look(clock::time_point now) {
  if (++rounds_ > max_rounds) return in_progress(std::nullopt);
  return submit({.what = op::look, .name = setup_.name}, phase::looking, now);
}

/// Owners go by the lease of their records, which can be longer than this route's: another route of the namespace has
/// made them, or another configuration.
engine::clock::time_point engine::grace_until() const {
  if (troubled_ == clock::time_point{}) return {};
  return troubled_ + std::max(setup_.route->lease, found_.value.lease);
}

next engine::decide_processing(std::int64_t ttl, bool confirmed, clock::time_point now) {
  if (ttl > found_.value.hold.count()) return in_progress(std::nullopt);
  // The owner may have completed between GET and PTTL: a suspicion counts only when one step says the same.
  if (!confirmed) return look(now);
  if (now < grace_until()) return in_progress(grace_until() - now);
  return decide_unknown(true, now);
}

/// An unknown outcome is taken over only if the record and the route say so.
bool engine::repeatable() const {
  return setup_.route->guarantee == config::guarantee::at_least_once &&
         found_.value.guarantee == config::guarantee::at_least_once;
}

next engine::decide_unknown(bool lapsed, clock::time_point now) {
  if (!repeatable()) return outcome_unknown(lapsed);
  if (now < grace_until()) return in_progress(grace_until() - now);
  return take_over(now);
}

next engine::on_look(reply& r, clock::time_point now) {
  switch (r.what) {
    case verdict::found: return on_found(r, true, now);
    case verdict::absent: return claim_again(now);
    default: return store_gone(false);
  }
}

next engine::take_over(clock::time_point now) {
  if (place_ == room::no) return refuse(busy_problem(true));
  if (++rounds_ > max_rounds) return in_progress(std::nullopt);
  give_up();
  const auto before = found_.value.owner.attempt;
  expect_ = record_prefix(found_.value.state, found_.value.owner);
  own(owner::fresh(before == 0xffff ? before : static_cast<std::uint16_t>(before + 1)));
  created_ = found_.value.created;
  make(value_, record_state::processing, owner_);
  clock_ = now;
  return submit({.what = op::take_over,
                 .name = setup_.name,
                 .value = value_,
                 .expect = expect_,
                 .ttl = life_of_claim(),
                 .hold = found_.value.hold},
                phase::taking_over, now);
}

next engine::on_take_over(reply& r, clock::time_point now) {
  if (r.what == verdict::done) {
    phase_ = phase::owned;
    return next::execute;
  }
  if (r.what == verdict::lost) return start_over(now);
  unanswered(r, now);
  return store_gone(false);
}

// ------------------------------------------------------------------------------------------------------------- answers

/// @param left of a state whose end is known; otherwise the time that the route usually takes decides
next engine::in_progress(std::optional<milliseconds> left) {
  problem p(problem_code::in_progress);
  if (setup_.route->in_flight.respond == config::in_flight_respond::accepted) p.status = 202;
  if (left) {
    p.retry_after = whole_seconds(*left);
  } else {
    const auto age = read_ && found_.value.created > 0 ? std::max<std::int64_t>(0, unix_ms_ - found_.value.created) : 0;
    const auto usual = setup_.times ? setup_.times->median() : execution_times::before_the_first;
    p.retry_after = std::min(whole_seconds(usual - milliseconds(age)), whole_seconds(setup_.route->lease));
  }
  refuse(std::move(p));
  return setup_.route->in_flight.respond == config::in_flight_respond::wait ? next::wait : next::refuse;
}

next engine::outcome_unknown(bool lapsed) {
  problem p(problem_code::outcome_unknown);
  p.retryable = lapsed;
  if (lapsed) p.retry_after = whole_seconds(found_.value.lease);
  p.first_seen = found_.value.created;
  p.attempt = found_.value.owner.attempt;
  return refuse(std::move(p));
}

}  // namespace idem::idempotency
