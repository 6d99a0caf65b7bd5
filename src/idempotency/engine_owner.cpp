// What an engine does once the key is its own: the lease, the end of the attempt, and tokens that are given up.
#include <algorithm>

#include "idem/idempotency/engine.hpp"
#include "idem/memory/block_pool.hpp"
#include "idempotency/record_format.hpp"

namespace idem::idempotency {

command engine::own_command(op what, std::string_view record, milliseconds ttl) const {
  return {.what = what,
          .name = setup_.name,
          .value = record,
          .expect = record.substr(owner_offset, owner_size),
          .ttl = ttl};
}

// --------------------------------------------------------------------------------------------------------------- owned

bool engine::may_send(clock::time_point now) const { return lease_used(now) * 3 <= setup_.route->lease * 2; }

next engine::renew_before_send(clock::time_point now) { return submit(renew_command(now), phase::renewing, now); }

next engine::on_renewed_before_send(reply& r, clock::time_point now) {
  renewal_under_way_ = false;
  switch (r.what) {
    case verdict::recreated:
    case verdict::done:
      vanished_ |= r.what == verdict::recreated;
      clock_ = sent_at_;
      phase_ = phase::owned;
      return next::execute;
    case verdict::lost:
      // Others have settled the key meanwhile, or an operator took it. Nothing was sent: the record decides.
      read_ = true;
      give_up();
      return start_over(now);
    default:
      // The claim was answered, so the record stands: without a release it would become an unknown outcome of nothing.
      last_unanswered_ = now;
      return store_gone(false);
  }
}

const command& engine::renew_command(clock::time_point now) {
  if (renew_value_.empty()) renew_value_ = memory::take_string();
  make(renew_value_, record_state::processing, owner_);
  renew_ = own_command(op::renew, renew_value_, life_of_claim());
  renew_.blind = true;
  renew_sent_ = now;
  renewal_under_way_ = true;
  return renew_;
}

bool engine::renewed(const reply& r, clock::time_point now) {
  renewal_under_way_ = false;
  if (r.what == verdict::lost) {
    // if nothing was sent yet, nothing may be sent before the record was read
    clock_ = now - setup_.route->lease;
    return false;
  }
  if (r.what == verdict::done || r.what == verdict::recreated) {
    clock_ = renew_sent_;
  } else {
    unanswered(r, now);
  }
  if (r.what == verdict::recreated) {
    // Behind a release it was not the store that lost the record, and nobody owns the one that was made.
    if (releasing_) last_unanswered_ = now;
    if (!releasing_) vanished_ = true;
  }
  return !releasing_;
}

// -------------------------------------------------------------------------------------------------------------- settle

next engine::settle(op what, milliseconds ttl) {
  releasing_ = what == op::release;
  command_ = own_command(what, value_, ttl);
  command_.notify = setup_.notify;
  phase_ = phase::settling;
  return next::submit;
}

next engine::complete(record_state state, const answer& a) {
  make(value_, state, owner_, a);
  return settle(op::complete, retention());
}

next engine::release() {
  make(value_, record_state::unknown, owner_);
  return settle(op::release, hold());
}

next engine::declare() {
  make(value_, record_state::unknown, owner_);
  settle(op::declare, hold());
  command_.declare_x = setup_.route->guarantee == config::guarantee::at_least_once;
  return next::submit;
}

next engine::settle_again() {
  phase_ = phase::settling;
  return next::submit;
}

/// Only of a completion: what a release or a declaration finds tells whether an earlier try of it has landed.
next engine::settle_unheard() {
  command_.blind = command_.what == op::complete;
  return settle_again();
}

next engine::settle_without_body() {
  if (command_.what == op::complete) {
    const decoded_record whole = decode(value_);
    const std::string head(whole.value.header_block);
    complete(record_state::without_body, {whole.value.status, head, {}});
  }
  return settle_unheard();
}

/// What stands there is what an earlier try of this very command made, whose reply was lost.
bool engine::landed_before(const reply& r) const {
  if (command_.what == op::release && owner_.attempt == 1) return r.value.empty();
  return r.value == value_;
}

next engine::on_settled(reply& r, clock::time_point now) {
  phase_ = phase::owned;
  settlement_unanswered_ = r.what == verdict::unavailable && r.sent;
  switch (r.what) {
    case verdict::done: settled_ = settled_as::stored; break;
    case verdict::recreated:
      settled_ = settled_as::recreated;
      vanished_ = true;
      break;
    case verdict::already: settled_ = landed_before(r) ? settled_as::stored : settled_as::already; break;
    case verdict::lost: settled_ = landed_before(r) ? settled_as::stored : settled_as::superseded; break;
    default:
      settled_ = settled_as::not_stored;
      // whoever does not try it again gives the token up, and that repeats the release
      if (releasing_) last_unanswered_ = now;
      break;
  }
  if (lost_its_key()) {
    found_text_ = std::move(r.value);
    found_ = decode(found_text_);
  }
  return next::settled;
}

bool engine::found_answer() const {
  return lost_its_key() && found_.result == decode_result::ok && holds_answer(found_.value.state);
}

next engine::answer_found() {
  read_ = true;
  if (found_.result == decode_result::foreign) return leave_foreign();
  if (found_.result == decode_result::damaged) return refuse(problem(problem_code::answer_not_kept));
  if (auto mismatch = compare_fingerprint()) return *mismatch;
  switch (found_.value.state) {
    case record_state::processing:
    case record_state::revoked: in_progress(std::nullopt); return next::refuse;
    case record_state::unknown:
      outcome_unknown(false);
      if (repeatable()) {  // the next request with this key takes it over
        refusal_->retryable = true;
        refusal_->retry_after = 1;
      }
      return next::refuse;
    default: return by_state(reply::no_expiry, true, {});
  }
}

// ---------------------------------------------------------------------------------------------------------- afterwards

void engine::give_up() {
  // a renewal whose reply is still to come can recreate what the release removes
  if (renewal_under_way_) last_unanswered_ = std::max(last_unanswered_.value_or(renew_sent_), renew_sent_);
  renewal_under_way_ = false;
  if (last_unanswered_) abandoned_.push_back({owner_, *last_unanswered_ + setup_.route->lease});
  last_unanswered_.reset();
}

const command& engine::repeated_release(const owner& token) {
  make(repeat_value_, record_state::unknown, token);
  repeat_ = own_command(op::release, repeat_value_, hold());
  repeat_.notify = setup_.notify;
  repeat_.blind = true;
  return repeat_;
}

}  // namespace idem::idempotency
