#include "proxy/aftermath.hpp"

#include <algorithm>
#include <random>

#include "idem/net/pause.hpp"
#include "idem/telemetry/log.hpp"
#include "proxy/settling_pace.hpp"
#include "proxy/store_call.hpp"

namespace idem::proxy {

using namespace std::chrono_literals;
using idempotency::settled_as;

namespace {
/// The X of a smaller one would get through no better.
constexpr std::size_t large_record = 64 * 1024;

double chance() {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(random);
}

/// The claim's last settling command again.
idempotency::next settle_owed(idempotency::engine& e, const settling_pace& pace) {
  if (!pace.gets_through() && e.pending().value.size() > large_record) {
    telemetry::warn("an answer does not get through to the store in time: it is recorded without its body",
                    {{"bytes", static_cast<std::int64_t>(e.pending().value.size())}});
    return e.settle_without_body();
  }
  return e.settle_unheard();
}

/// One more, for as long as it lives.
class counted {
 public:
  explicit counted(std::atomic<std::int64_t>& gauge) : gauge_(gauge) { gauge_.fetch_add(1, std::memory_order_relaxed); }
  ~counted() { gauge_.fetch_sub(1, std::memory_order_relaxed); }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  std::atomic<std::int64_t>& gauge_;
};

}  // namespace

class aftermath::job {
 public:
  explicit job(aftermath& a, std::size_t bytes = 0)
      : rest(a.w_.wheel), a_(a), bytes_(bytes), self_(a.jobs_.insert(a.jobs_.end(), this)) {
    a_.bytes_ += bytes_;
    a_.w_.shared.unfinished.begin();
  }
  ~job() {
    a_.jobs_.erase(self_);
    a_.bytes_ -= bytes_;
    a_.w_.shared.unfinished.end();
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  net::pause rest;

 private:
  aftermath& a_;
  const std::size_t bytes_;
  const decltype(aftermath::jobs_)::iterator self_;
};

void aftermath::hurry() {
  const auto all = jobs_;  // one that ends takes itself out, and only itself
  for (auto* j : all) j->rest.wake();
}

void aftermath::keep_settling(std::shared_ptr<claim> c, std::size_t bytes) {
  if (pending() >= max_jobs || bytes_ + bytes > max_bytes) {
    const std::string_view outcome = c->runs_past_store() ? "forgotten" : "unknown";
    telemetry::warn("backlog is full: what the store did not take is dropped",
                    {{"outcome", outcome}, {"waiting", static_cast<std::int64_t>(pending())}});
    c->stop_renewing();
    return;
  }
  net::spawn(w_.io.get_executor(), settle(std::move(c), bytes));
}

net::task<void> aftermath::settle(std::shared_ptr<claim> c, std::size_t bytes) {
  job owed(*this, bytes);
  const counted in_backlog(w_.metrics.backlog);
  const auto give_up_at = net::lease_clock::now() + c->engine.retention();
  settling_pace pace;
  for (auto rest = settling_pace::shortest;;) {
    if (w_.shared.stopping.load(std::memory_order_relaxed)) rest = settling_pace::shortest;
    co_await owed.rest.wait(rest);
    co_await c->drive(settle_owed(c->engine, pace));
    if (c->engine.settlement_result() != settled_as::not_stored) break;
    if (net::lease_clock::now() > give_up_at) break;
    rest = pace.after_failure(c->engine.settlement_unanswered(), chance());
  }
  const bool news = c->settled_past_store();
  c->stop_renewing();
  // what was let past the store was never in it
  if (c->engine.settlement_result() == settled_as::recreated && !news)
    w_.metrics.recreated.fetch_add(1, std::memory_order_relaxed);
  if (c->engine.settlement_result() == settled_as::superseded) {
    w_.metrics.lost_completions.fetch_add(1, std::memory_order_relaxed);
  }
}

void aftermath::release_abandoned(std::shared_ptr<claim> c) {
  for (const auto& token : c->engine.take_abandoned_tokens()) {
    if (pending() >= max_jobs) return;
    net::spawn(w_.io.get_executor(), release(c, token));
  }
}

net::task<void> aftermath::release(std::shared_ptr<claim> c, idempotency::engine::abandoned token) {
  job owed(*this);
  const auto period = std::clamp<std::chrono::milliseconds>(c->engine.route().lease / 20, 50ms, 500ms);
  // What landed would block the key for the hold: so long a store that is away is waited for.
  const auto last = token.until + c->engine.hold();
  for (;;) {
    const auto sent = net::lease_clock::now();
    const auto command = c->engine.repeated_release(token.token);
    const std::string value(command.value), expect(command.expect);
    auto own = command;
    own.value = value;
    own.expect = expect;
    store_call call(w_, own);
    if (!call.done.is_set()) co_await call.done.wait();
    const bool answered = !failed(call.reply);
    // A store that let this one wait may hold the one that was lost for as long.
    if (call.reply.what == idempotency::verdict::unavailable && call.reply.sent)
      token.until = std::max(token.until, net::lease_clock::now() + c->engine.route().lease);
    // Only one that was sent behind the end comes behind all that could land.
    if (answered && sent >= token.until) break;
    if (sent >= last || w_.shared.stopping.load(std::memory_order_relaxed)) break;
    co_await owed.rest.wait(sent < token.until ? period : std::max<std::chrono::milliseconds>(period, 500ms));
  }
}

void aftermath::see_through(net::task<void> work) { net::spawn(w_.io.get_executor(), as_job(std::move(work))); }

net::task<void> aftermath::as_job(net::task<void> work) {
  const job under_way(*this);
  co_await work;
}

}  // namespace idem::proxy
