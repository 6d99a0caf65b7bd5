#include "app/key_change.hpp"

#include <cstdio>

#include "idem/telemetry/log.hpp"

namespace idem::app {

using idempotency::op;
using idempotency::record_state;
using idempotency::verdict;

namespace {

/// @param first whether no step was taken before
int outcome(const store::reply& r, bool first) {
  const std::string nothing = first ? "nothing was changed" : "nothing more was changed";
  if (r.what == verdict::done || r.what == verdict::recreated) return key_done;
  if (r.what == verdict::lost || r.what == verdict::absent || r.what == verdict::already) {
    return complain(key_changed, "the record changed meanwhile, or is too young; look again");
  }
  if (r.what == verdict::refused) return complain(key_failed, "the store takes no writes; " + nothing);
  if (!r.sent) return complain(key_failed, "the store does not answer; " + nothing);
  return complain(key_failed, "the store did not answer in time; nothing is certain: look again");
}

std::string letter(record_state s) { return {static_cast<char>(s)}; }

}  // namespace

key_change::key_change(key_store& store, const key_request& q, const config::idempotency_config& route,
                       const std::string& name, seen_record& seen)
    : store_(store), q_(q), route_(route), name_(name), seen_(seen), before_(letter(seen.value().state)) {}

int key_change::release() {
  const int code = try_release();
  audit("release");
  return code;
}

int key_change::resolve(const key_answer& answer) {
  const int code = try_resolve(answer);
  audit("resolve");
  return code;
}

/// What was done, not what was meant: also where a later step failed, and nothing where none was taken.
void key_change::audit(std::string_view what) const {
  if (after_.empty() && !uncertain_) return;
  const std::string_view event =
      uncertain_ ? "an operator may have changed a record: the store did not answer" : "an operator changed a record";
  telemetry::warn(event, {{"what", what},
                          {"route", std::string_view(q_.route)},
                          {"record", std::string_view(name_)},
                          {"state_before", std::string_view(before_)},
                          {"state_after", uncertain_ ? std::string_view("not known") : std::string_view(after_)},
                          {"reason", std::string_view(q_.reason)}});
}

/// Whoever waits for the record is told of each step: the next one may never come.
int key_change::run(store::command c, std::string state_after) {
  c.name = name_;
  c.notify = route_.in_flight.respond == config::in_flight_respond::wait;
  const bool first = after_.empty();
  const auto r = store_.run(c);
  if (r.what == verdict::done || r.what == verdict::recreated) after_ = std::move(state_after);
  uncertain_ = r.what == verdict::unavailable && r.sent;
  return outcome(r, first);
}

int key_change::revoke() {
  const auto& v = seen_.value();
  const auto prefix = idempotency::record_prefix(v.state, v.owner);
  store::command c;
  c.what = op::revoke;
  c.expect = prefix;
  c.ttl = 2 * v.lease;
  return run(c, letter(record_state::revoked));
}

int key_change::try_release() {
  const auto& v = seen_.value();
  switch (v.state) {
    case record_state::processing: {
      const int code = revoke();
      if (code != key_done) return code;
      std::printf("revoked: the key is free in %lld s, unless its owner answers before\n",
                  static_cast<long long>(2 * v.lease.count() / 1000));
      return key_done;
    }
    case record_state::unknown: {
      const auto prefix = idempotency::record_prefix(v.state, v.owner);
      store::command c;
      c.what = op::resolve;
      c.expect = prefix;
      c.hold = v.hold;
      c.lease = v.lease;
      const int code = run(c, "absent");
      if (code == key_done) std::printf("released: the next request with this key executes\n");
      return code;
    }
    case record_state::revoked: return complain(key_changed, "it is revoked already and expires by itself");
    default: return complain(key_changed, "it has an answer; only an unknown or running key can be released");
  }
}

/// A lapsed P becomes R and then U, so that its owner, should it come back, finds what was decided.
int key_change::make_unknown() {
  if (const int code = revoke(); code != key_done) return code;
  auto unknown = seen_.value();
  unknown.state = record_state::unknown;
  unknown.header_block = unknown.body = {};
  const auto value = idempotency::encode(unknown);
  const auto own = unknown.owner.text();
  store::command c;
  c.what = op::declare;
  c.value = value;
  c.expect = own;
  c.ttl = unknown.hold;
  if (const int code = run(c, letter(record_state::unknown)); code != key_done) {
    // the one outcome that would execute again what an operator has just settled
    return complain(code, "the key was revoked before that: unless its owner answers, it is free in " +
                              std::to_string(2 * unknown.lease.count() / 1000) + " s, and a retry executes then");
  }
  return look(store_, name_, seen_);
}

int key_change::try_resolve(const key_answer& answer) {
  if (seen_.value().state == record_state::processing && !seen_.lapsed()) {
    return complain(key_changed, "its owner is alive; release it first, or wait for its answer");
  }
  if (seen_.lapsed()) {
    if (const int code = make_unknown(); code != key_done) return code;
  }
  const auto& v = seen_.value();
  if (v.state != record_state::unknown) return complain(key_changed, "only an unknown outcome can be resolved");
  const auto prefix = idempotency::record_prefix(v.state, v.owner);
  auto answered = v;
  answered.state = q_.status < 400 ? record_state::succeeded : record_state::failed_final;
  answered.status = q_.status;
  answered.header_block = answer.block;
  answered.body = answer.body;
  const auto value = idempotency::encode(answered);
  store::command c;
  c.what = op::resolve;
  c.value = value;
  c.expect = prefix;
  c.ttl = answered.retention;
  const int code = run(c, letter(answered.state));
  if (code == key_done) std::printf("resolved: every retry gets %u from now on\n", q_.status);
  return code;
}

}  // namespace idem::app
