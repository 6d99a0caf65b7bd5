// One request's engine, driven by hand: a clock that only the test moves, and replies as a store would give them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "idem/idempotency/engine.hpp"

namespace idem::idempotency::testing {

using namespace std::chrono_literals;
using time_point = engine::clock::time_point;

inline constexpr std::int64_t wall = 1'700'000'000'000;  ///< unix milliseconds when a script begins
inline constexpr milliseconds lease = 15s;
inline constexpr milliseconds hold = 24h;

inline config::idempotency_config careful_route() { return {}; }
inline config::idempotency_config repeating_route() {
  config::idempotency_config r;
  r.guarantee = config::guarantee::at_least_once;
  return r;
}

inline fingerprint print_of(unsigned char what, std::uint32_t settings = 7) {
  fingerprint f;
  f.digest.fill(what);
  f.version = 1;
  f.settings = settings;
  return f;
}

/// A record of another attempt at the same request.
inline record other_record(record_state state, std::uint16_t attempt = 1) {
  record r;
  r.state = state;
  r.owner.attempt = attempt;
  r.owner.token.fill('a');
  r.lease = lease;
  r.hold = hold;
  r.retention = 24h;
  r.created = wall - 400;
  r.fingerprint = print_of(1);
  if (state == record_state::succeeded || state == record_state::failed_final || state == record_state::without_body) {
    r.status = 201;
    r.header_block = "Created\r\nLocation: /1\r\n";
    if (state != record_state::without_body) r.body = "{}";
  }
  return r;
}
inline record repeatable(record r) {
  r.guarantee = config::guarantee::at_least_once;
  return r;
}

inline reply found(std::string text, std::int64_t ttl) { return {verdict::found, std::move(text), ttl, false, false}; }
inline reply found(const record& r, std::int64_t ttl) { return found(encode(r), ttl); }
inline reply found(const record& r, milliseconds ttl) { return found(encode(r), ttl.count()); }
inline reply lost(const record& r) { return {verdict::lost, encode(r), hold.count(), false, false}; }
inline reply already(const record& r) { return {verdict::already, encode(r), hold.count(), false, false}; }
inline reply plain(verdict v) { return {v, {}, reply::no_record, false, false}; }
inline reply silence() { return {verdict::unavailable, {}, reply::no_record, true, false}; }
inline reply unreachable() { return {verdict::unavailable, {}, reply::no_record, false, false}; }

/// Knows some settings besides the route's, and the digest of the request under them.
struct other_settings final : fingerprint_source {
  std::map<std::uint32_t, fingerprint> known;
  std::optional<fingerprint> under(std::uint16_t, std::uint32_t settings) override {
    const auto it = known.find(settings);
    if (it == known.end()) return std::nullopt;
    return it->second;
  }
};

class script {
 public:
  explicit script(config::idempotency_config r = careful_route(), fingerprint_source* others = nullptr,
                  milliseconds expected = 1s)
      : route(std::move(r)), e({&route, "idem:{name}", print_of(1), others, &times, false}) {
    times.add(expected);
  }

  next start() { return e.start(now, wall); }
  next reply_with(reply r) { return e.resume(std::move(r), now, wall); }
  void pass(milliseconds t) { now += t; }

  op asked() const { return e.pending().what; }
  std::string written() const { return std::string(e.pending().value); }
  record wrote() const { return decode(e.pending().value).value; }
  /// The claim's own record, as a store shows it that has just written it.
  reply own(milliseconds ttl = lease + hold) const { return found(written(), ttl.count()); }
  record own_record(record_state state) const {
    auto r = other_record(state, e.own().attempt);
    r.owner = e.own();
    return r;
  }

  /// start() and the reply that makes the key its own.
  void claim() {
    ASSERT_EQ(start(), next::submit);
    ASSERT_EQ(reply_with(own()), next::execute);
  }
  /// The same for a lapsed attempt, which is taken over.
  void take_over(std::uint16_t before = 1) {
    const auto lapsed = repeatable(other_record(record_state::processing, before));
    ASSERT_EQ(start(), next::submit);
    ASSERT_EQ(reply_with(found(lapsed, hold)), next::submit);
    ASSERT_EQ(reply_with(found(lapsed, hold)), next::submit);
    ASSERT_EQ(asked(), op::take_over);
    ASSERT_EQ(reply_with(plain(verdict::done)), next::execute);
  }

  config::idempotency_config route;
  execution_times times;
  engine e;
  time_point now{1'000'000ms};
};

}  // namespace idem::idempotency::testing
