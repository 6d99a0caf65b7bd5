// A world for engines: one record in a store with a clock of its own, processes that can stand still or die, and
// commands whose replies are late, lost, or never asked for. Everything follows from one seed.
//
// The store says what docs/protocol.md says of each transition, in its own words: it shares no code with the real ones.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <tuple>

#include "engine_fixture.hpp"

namespace idem::idempotency::testing {

/// A command with its bytes: it travels on when its sender is gone.
struct traveller {
  op what;
  std::string value, expect;
  std::int64_t ttl, hold;
  bool declare_x, blind;
  explicit traveller(const command& c)
      : what(c.what),
        value(c.value),
        expect(c.expect),
        ttl(c.ttl.count()),
        hold(c.hold.count()),
        declare_x(c.declare_x),
        blind(c.blind) {}
};

/// The one record, and what may never happen to it.
class fake_store {
 public:
  char state(std::int64_t now) const { return alive(now) ? value_[3] : '-'; }
  std::string owner(std::int64_t now) const { return alive(now) ? value_.substr(owner_offset, owner_size) : ""; }
  std::int64_t ttl(std::int64_t now) const { return alive(now) ? expires_ - now : reply::no_record; }
  std::string value(std::int64_t now) const { return alive(now) ? value_ : ""; }
  std::int64_t finished_at() const { return finished_at_; }
  const std::string& violation() const { return violation_; }

  void set_if_absent(const traveller& c, std::int64_t now) {
    if (!alive(now)) put(c, now);
  }

  reply apply(const traveller& c, std::int64_t now) {
    reply r = carry_out(c, now);
    if (c.blind) r.value.clear();
    return r;
  }

  reply carry_out(const traveller& c, std::int64_t now) {
    const char s = state(now);
    const bool own = alive(now) && c.expect == owner(now);
    const bool same = alive(now) && c.expect == value_.substr(0, prefix_size);
    const auto is = [&](std::string_view states) { return states.find(s) != std::string_view::npos; };
    switch (c.what) {
      case op::look: return alive(now) ? stands(verdict::found, now) : plain(verdict::absent);
      case op::renew:
        if (s == '-') return put(c, now), plain(verdict::recreated);
        if (own && s == 'P') return expires_ = now + c.ttl, plain(verdict::done);
        break;
      case op::complete:
        if (s == '-') return put(c, now), plain(verdict::recreated);
        if (own && is("PUR")) return put(c, now), plain(verdict::done);
        if (own) return stands(verdict::already, now);
        break;
      case op::release:
        if (own && s == 'P' && c.expect.starts_with("0001")) return expires_ = 0, plain(verdict::done);
        if (own && s == 'P') return put(c, now), plain(verdict::done);
        break;
      case op::declare:
        if (s == '-') return put(c, now), plain(verdict::recreated);
        if (own && (is("PR") || (s == 'X' && c.declare_x))) return put(c, now), plain(verdict::done);
        break;
      case op::take_over:
        if (same && is("PU") && ttl(now) <= c.hold) return put(c, now), plain(verdict::done);
        break;
      default: break;
    }
    return stands(verdict::lost, now);
  }

  reply stands(verdict v, std::int64_t now) const { return {v, value(now), ttl(now), false, false}; }

 private:
  bool alive(std::int64_t now) const { return now < expires_; }
  void put(const traveller& c, std::int64_t now) {
    if (state(now) == 'S') violation_ = "a stored answer was overwritten";
    value_ = c.value;
    expires_ = now + c.ttl;
    if (value_[3] == 'S') finished_at_ = now;
  }

  std::string value_;
  std::int64_t expires_ = 0;
  std::int64_t finished_at_ = -1;
  std::string violation_;
};

class world {
 public:
  explicit world(std::uint32_t seed) : random_(seed) {}

  std::int64_t now() const { return now_; }
  time_point clock() const { return time_point(milliseconds(now_)); }
  std::int64_t roll(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }
  bool chance(int percent) { return roll(100) < percent; }

  struct process {
    std::int64_t stands_still_until = 0;
    bool dead = false;
    std::int64_t last_landing = 0;  ///< one connection: what is not lost lands in order
  };
  /// Something that a process does, once it runs, or that happens to the store (no process).
  void at(std::int64_t when, process* who, std::function<void()> what) {
    events_.push({when, ++count_, who, std::move(what)});
  }
  void after(std::int64_t t, process* who, std::function<void()> what) { at(now_ + t, who, std::move(what)); }

  void run() {
    while (!events_.empty()) {
      auto e = events_.top();
      events_.pop();
      now_ = std::max(now_, e.when);
      if (e.who && e.who->dead) continue;
      if (e.who && e.who->stands_still_until > now_) {
        e.when = e.who->stands_still_until;
        events_.push(std::move(e));
        continue;
      }
      e.what();
    }
  }

  void submit(process& p, const command& c, std::function<void(reply)> done) {
    auto t = std::make_shared<traveller>(c);
    if (!calm && chance(4)) return after(0, &p, [done] { done(unreachable()); });
    if (!calm && chance(8)) {
      if (chance(60)) at(now_ + roll(longest_flight), nullptr, [this, t] { land(*t); });
      return after(command_timeout, &p, [done] { done(silence()); });
    }
    const auto lands = p.last_landing = std::max(p.last_landing, now_ + roll(60));
    if (c.what == op::claim) return claim(p, t, lands, std::move(done));
    at(lands, nullptr, [this, t, &p, done] {
      const auto r = store.apply(*t, now_);
      after(roll(60), &p, [done, r] { done(r); });
    });
  }

  fake_store store;
  bool calm = false;  ///< no more faults
  std::int64_t longest_flight = 1;

 private:
  static constexpr std::int64_t command_timeout = 250;
  struct event {
    std::int64_t when;
    std::uint64_t order;
    process* who;
    std::function<void()> what;
    bool operator<(const event& o) const { return std::tie(when, order) > std::tie(o.when, o.order); }
  };

  void land(const traveller& t) {
    if (t.what == op::claim) return store.set_if_absent(t, now_);
    store.apply(t, now_);
  }

  /// One step that tells no time; or three, and others come in between.
  void claim(process& p, std::shared_ptr<traveller> t, std::int64_t set, std::function<void(reply)> done) {
    if (chance(50))
      return at(set, nullptr, [this, t, &p, done] {
        const auto stood = store.value(now_);
        store.set_if_absent(*t, now_);
        const reply r = found(stood.empty() ? t->value : stood, stood.empty() ? t->ttl : reply::not_asked);
        after(roll(60), &p, [done, r] { done(r); });
      });
    const auto get = set + roll(20), date = get + roll(20);
    p.last_landing = date;
    at(set, nullptr, [this, t] { store.set_if_absent(*t, now_); });
    at(get, nullptr, [this, &p, date, done] {
      const auto seen = store.value(now_);
      at(date, nullptr, [this, &p, seen, done] {
        const reply r = seen.empty() ? plain(verdict::absent) : found(seen, store.ttl(now_));
        after(roll(60), &p, [done, r] { done(r); });
      });
    });
  }

  std::mt19937 random_;
  std::priority_queue<event> events_;
  std::int64_t now_ = 1000;
  std::uint64_t count_ = 0;
};

}  // namespace idem::idempotency::testing
