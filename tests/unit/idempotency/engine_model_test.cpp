// Many engines at one key, in a world where replies get lost, commands land late, processes stand still and die: the
// invariants of docs/protocol.md on thousands of histories, each of them made by its seed. IDEM_MODEL_SEED=n runs one.
#include <cstdlib>
#include <vector>

#include "engine_world.hpp"

namespace idem::idempotency {
namespace {

using namespace testing;

/// Ways to be wrong, planted to see that the checks find them.
enum class plant { none, release_on_reset, send_without_checking, release_once, recreate_after_release };

/// What histories came to, to see that they come to everything that matters.
struct tally {
  int executions = 0, take_overs = 0, replays = 0, in_progress = 0, unknown = 0, renewed_first = 0,
      repeated_releases = 0, superseded = 0;
};

struct history {
  history(std::uint32_t seed, config::guarantee g, plant p) : w(seed), planted(p) {
    route.guarantee = g;
    route.lease = 1s;
    brief_hold = w.chance(25);
    route.hold = brief_hold ? 2s : 10h;
    route.retention = 10h;
    w.longest_flight = route.lease.count();
  }
  void violated(const std::string& what) {
    if (violation.empty()) violation = what + " at " + std::to_string(w.now());
  }

  config::idempotency_config route;
  world w;
  plant planted;
  bool brief_hold = false;
  int executions = 0;  ///< those that the backend did not take back
  tally seen;
  bool unsettled = false;  ///< somebody died, or bytes were sent and no answer came
  std::string violation;
};

/// One request in one process: what the proxy does with an engine.
class attempt {
 public:
  explicit attempt(history& of) : h(of), e({&h.route, "idem:{k}", print_of(1), nullptr, nullptr, false}) {}

  void start() {
    started_ = h.w.now();
    drive(e.start(h.w.clock(), wall));
  }
  next ended() const { return ended_; }
  world::process process;

 private:
  void drive(next n) {
    switch (n) {
      case next::submit:
        return h.w.submit(process, e.pending(), [this](reply r) { drive(e.resume(std::move(r), h.w.clock(), wall)); });
      case next::settled: return settled();
      case next::execute:
        ended_ = n;
        if (connected_) return send_if_leased();
        connected_ = true;
        return h.w.after(h.w.roll(h.w.chance(20) ? 2000 : 100), &process, [this] { send_if_leased(); });
      default: return answered(n);
    }
  }

  void answered(next n) {
    ended_ = n;
    h.seen.replays += n == next::replay;
    h.seen.in_progress += n == next::refuse && e.refusal().code == problem_code::in_progress;
    h.seen.unknown += n == next::refuse && e.refusal().code == problem_code::outcome_unknown;
    const bool finished = h.w.store.finished_at() >= 0 && h.w.store.finished_at() < started_;
    if (finished && n == next::refuse && e.refusal().code != problem_code::store_unavailable) {
      h.violated("a finished key was answered with another code than its answer");
    }
    give_up();
  }

  void send_if_leased() {
    if (h.w.chance(5)) {  // the backend cannot be reached
      return settle(e.release(), true);
    }
    if (h.planted != plant::send_without_checking && !e.may_send(h.w.clock())) {
      ++h.seen.renewed_first;
      return drive(e.renew_before_send(h.w.clock()));
    }
    const auto now = h.w.now();
    const auto& s = h.w.store;
    if (s.state(now) != 'P' || s.owner(now) != e.own().text() || s.ttl(now) <= h.route.hold.count()) {
      h.violated("sent without a living lease");
    }
    ++h.executions;
    ++h.seen.executions;
    h.seen.take_overs += e.taken_over();
    if (h.executions > 1 && !h.brief_hold && h.route.guarantee == config::guarantee::at_most_once) {
      h.violated("executed twice");
    }
    renewing_ = true;
    h.w.after(h.route.lease.count() / 3, &process, [this] { renew(); });
    h.w.after(h.w.roll(3000), &process, [this] { answer(); });
  }

  void answer() {
    const auto dice = h.w.roll(100);
    if (dice < 60) return settle(e.complete(record_state::succeeded, {200, "OK\r\n", "done"}), false);
    if (dice < 80) {  // 503: the backend's word that it did nothing
      --h.executions;
      if (h.planted != plant::recreate_after_release) renewing_ = false;
      return settle(e.release(), true);
    }
    h.unsettled = true;
    if (h.planted == plant::release_on_reset) return settle(e.release(), true);
    settle(e.declare(), false);
  }

  void settle(next n, bool release) {
    released_ = release;
    drive(n);
  }

  void settled() {
    h.seen.superseded += e.settlement_result() == settled_as::superseded;
    if (e.settlement_result() == settled_as::not_stored) {
      return h.w.after(100, &process, [this] { drive(once_more()); });
    }
    if (h.planted != plant::recreate_after_release) renewing_ = false;
    if (released_) give_up();
  }

  next once_more() {
    const auto dice = h.w.roll(100);
    if (dice < 40) return e.settle_again();
    return dice < 80 ? e.settle_unheard() : e.settle_without_body();
  }

  void renew() {
    if (!renewing_) return;
    h.w.submit(process, e.renew_command(h.w.clock()), [this](reply r) {
      if (!e.renewed(r, h.w.clock()) && h.planted != plant::recreate_after_release) renewing_ = false;
      if (h.w.calm) renewing_ = false;
      h.w.after(h.route.lease.count() / 3, &process, [this] { renew(); });
    });
  }

  void give_up() {
    e.give_up();
    for (const auto& token : e.take_abandoned_tokens()) {
      if (h.planted != plant::release_once) release(token);
    }
  }

  void release(engine::abandoned token) {
    ++h.seen.repeated_releases;
    h.w.submit(process, e.repeated_release(token.token), [this, token](reply r) {
      if (r.what != verdict::unavailable && h.w.clock() >= token.until) return;
      h.w.after(100, &process, [this, token] { release(token); });
    });
  }

  history& h;
  engine e;
  std::int64_t started_ = 0;
  next ended_ = next::submit;
  bool connected_ = false;
  bool renewing_ = false;
  bool released_ = false;
};

/// What was wrong with this history; empty if nothing was.
std::string live_through(std::uint32_t seed, config::guarantee g, plant planted, tally* sum = nullptr) {
  history h(seed, g, planted);
  std::vector<std::unique_ptr<attempt>> all;
  for (auto requests = 1 + h.w.roll(8); requests > 0; --requests) {
    auto& a = *all.emplace_back(std::make_unique<attempt>(h));
    const auto begins = 1000 + h.w.roll(9000);
    h.w.at(begins, &a.process, [&a] { a.start(); });
    if (h.w.chance(30)) {
      h.w.at(begins + h.w.roll(3000), nullptr, [&] { a.process.stands_still_until = h.w.now() + h.w.roll(7000); });
    }
    if (h.w.chance(10)) {
      h.w.at(begins + h.w.roll(3000), nullptr, [&] { h.unsettled = a.process.dead = true; });
    }
  }
  h.w.at(25'000, nullptr, [&] { h.w.calm = true; });
  h.w.run();
  if (!h.w.store.violation().empty()) h.violated(h.w.store.violation());

  const bool untouched = h.executions == 0 && !h.unsettled;
  const bool finished = h.w.store.state(h.w.now()) == 'S';
  attempt last(h);
  last.start();
  h.w.run();
  if (finished && last.ended() != next::replay) h.violated("a finished key is not replayed");
  if (untouched && last.ended() != next::execute) h.violated("nothing was executed, and nothing ever will be");
  if (sum) {
    sum->executions += h.seen.executions, sum->take_overs += h.seen.take_overs, sum->replays += h.seen.replays;
    sum->in_progress += h.seen.in_progress, sum->unknown += h.seen.unknown, sum->superseded += h.seen.superseded;
    sum->renewed_first += h.seen.renewed_first, sum->repeated_releases += h.seen.repeated_releases;
  }
  return h.violation.empty() ? "" : "seed " + std::to_string(seed) + ": " + h.violation;
}

constexpr std::uint32_t histories = 4000;

std::string first_violation(config::guarantee g, plant planted) {
  if (const char* one = std::getenv("IDEM_MODEL_SEED")) {
    return live_through(static_cast<std::uint32_t>(std::strtoul(one, nullptr, 10)), g, planted);
  }
  for (std::uint32_t seed = 1; seed <= histories; ++seed) {
    if (auto v = live_through(seed, g, planted); !v.empty()) return v;
  }
  return {};
}

TEST(engine_model, at_most_once_holds_in_every_history) {
  EXPECT_EQ(first_violation(config::guarantee::at_most_once, plant::none), "");
}

TEST(engine_model, at_least_once_never_sends_without_a_lease_and_always_replays_what_is_finished) {
  EXPECT_EQ(first_violation(config::guarantee::at_least_once, plant::none), "");
}

TEST(engine_model, the_histories_come_to_everything_that_matters) {
  tally careful, repeating;
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    live_through(seed, config::guarantee::at_most_once, plant::none, &careful);
    live_through(seed, config::guarantee::at_least_once, plant::none, &repeating);
  }
  for (const auto* t : {&careful, &repeating}) {
    EXPECT_GT(t->executions, 200);
    EXPECT_GT(t->replays, 200);
    EXPECT_GT(t->in_progress, 200);
    EXPECT_GT(t->renewed_first, 20);
    EXPECT_GT(t->repeated_releases, 100);
  }
  EXPECT_GT(careful.unknown, 50);
  EXPECT_EQ(careful.take_overs, 0);
  EXPECT_GT(repeating.take_overs, 50);
  EXPECT_GT(repeating.superseded, 5);
}

TEST(engine_model, a_policy_that_releases_after_a_reset_is_found) {
  EXPECT_NE(first_violation(config::guarantee::at_most_once, plant::release_on_reset), "");
}

TEST(engine_model, sending_without_looking_at_the_clock_is_found) {
  EXPECT_NE(first_violation(config::guarantee::at_most_once, plant::send_without_checking), "");
}

TEST(engine_model, releases_that_are_not_repeated_are_found) {
  EXPECT_NE(first_violation(config::guarantee::at_most_once, plant::release_once), "");
}

TEST(engine_model, renewals_that_go_on_behind_a_release_are_found) {
  EXPECT_NE(first_violation(config::guarantee::at_most_once, plant::recreate_after_release), "");
}

}  // namespace
}  // namespace idem::idempotency
