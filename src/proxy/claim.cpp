#include "proxy/claim.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "idem/memory/block_pool.hpp"
#include "proxy/store_call.hpp"

namespace idem::proxy {

using idempotency::next;
using idempotency::op;
using idempotency::verdict;
using std::chrono::milliseconds;

namespace {

telemetry::histogram& histogram_of(telemetry::worker_block& m, op what) {
  if (what == op::claim) return m.store_claim;
  if (what == op::complete) return m.store_complete;
  return m.store_other;
}

/// 0.9 … 1.1 times t, so that the leases of one moment do not stay in step.
milliseconds jittered(milliseconds t) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return t * std::uniform_int_distribution<int>(90, 110)(random) / 100;
}

}  // namespace

claim::claim(worker& worker, std::shared_ptr<proxy::runtime> r, idempotency::engine::setup s)
    : engine(std::move(s)), w(worker), runtime(std::move(r)), renewal_(worker.wheel, [this] { renew(); }) {}

claim::~claim() {
  stop_renewing();
  if (listed_) w.claims.erase(*listed_);
  end_flight();
  settled_past_store();
  if (remembered_) {
    const std::lock_guard lock(w.shared.names_lock);
    if (auto it = w.shared.names.find(engine.name()); it != w.shared.names.end()) w.shared.names.erase(it);
  }
}

net::task<next> claim::drive(next n) {
  auto self = shared_from_this();
  while (n == next::submit) {
    const auto started = std::chrono::steady_clock::now();
    const auto what = engine.pending().what;
    store_call call(w, engine.pending());
    if (!call.done.is_set()) co_await call.done.wait();
    const auto took = std::chrono::steady_clock::now() - started;
    store_time += std::chrono::duration_cast<std::chrono::microseconds>(took);
    histogram_of(w.metrics, what).observe(took);
    if (const auto h = w.store->status(); h.ever_troubled) engine.store_was_troubled(h.last_trouble);
    n = engine.resume(std::move(call.reply), net::lease_clock::now(), unix_ms_now());
  }
  co_return n;
}

// ------------------------------------------------------------------------------------------------------------ renewing

void claim::be_listed() {
  if (!listed_) listed_ = w.claims.insert(w.claims.end(), this);
}

void claim::arm(milliseconds base) { renewal_.after(jittered(base)); }

void claim::start_renewing() {
  if (renewing_) return;
  renewing_ = true;
  be_listed();
  // the time that the claim took was time of the lease
  const auto third = engine.route().lease / 3;
  arm(third - std::min(third, engine.lease_used(net::lease_clock::now())));
}

void claim::stop_renewing() {
  if (!renewing_) return;
  renewing_ = false;
  renewal_.clear();
}

void claim::renew_soon() {
  if (renewing_ && !renew_under_way_) renew();
}

net::task<next> claim::renew_now() {
  auto self = shared_from_this();
  if (renew_under_way_) {
    co_await renewed_.wait();
    co_return next::execute;
  }
  stop_renewing();  // of a token that may have to be given up
  const auto n = co_await drive(engine.renew_before_send(net::lease_clock::now()));
  if (n == next::execute) {
    stands();
    start_renewing();
  }
  co_return n;
}

void claim::renew() {
  if (!renewing_ || renew_under_way_) return;
  renew_under_way_ = true;
  w.metrics.renewals.fetch_add(1, std::memory_order_relaxed);
  w.store->submit(engine.renew_command(net::lease_clock::now()), [self = shared_from_this()](store::reply r) {
    self->renew_under_way_ = false;
    count_failure(self->w, r);
    self->spoken_ |= !failed(r);
    // what was let past the store was never in it
    if (r.what == verdict::recreated && !self->past_store_)
      self->w.metrics.recreated.fetch_add(1, std::memory_order_relaxed);
    if (!self->engine.renewed(r, net::lease_clock::now())) self->stop_renewing();
    const bool answered = r.what == verdict::done || r.what == verdict::recreated;
    if (answered) self->stands();
    const auto lease = self->engine.route().lease;
    if (self->renewing_) self->arm(answered ? lease / 3 : std::min(lease / 10, milliseconds(500)));
    self->renewed_.set();
  });
}

/// From here on the record tells of the call, in every process.
void claim::stands() {
  stands_ = true;
  settled_past_store();
}

// ------------------------------------------------------------------------------------------------------------ counting

idempotency::room claim::room_left(std::size_t max_in_flight) const {
  using idempotency::room;
  return w.shared.in_flight.load(std::memory_order_relaxed) < max_in_flight ? room::yes : room::no;
}

bool claim::take_place(std::size_t max_in_flight) {
  if (counted_) return true;
  // taken before it is known to be free: two threads must not find the last one at the same time
  if (w.shared.in_flight.fetch_add(1, std::memory_order_relaxed) >= max_in_flight) {
    w.shared.in_flight.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  counted_ = true;
  be_listed();
  w.metrics.in_flight.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void claim::end_flight() {
  if (!counted_) return;
  counted_ = false;
  w.shared.in_flight.fetch_sub(1, std::memory_order_relaxed);
  w.metrics.in_flight.fetch_sub(1, std::memory_order_relaxed);
}

bool claim::remember_name(bool past_store) {
  if (remembered_) return true;
  const std::lock_guard lock(w.shared.names_lock);
  const std::string name(engine.name());
  if (past_store ? w.shared.names.contains(name) : w.shared.bypassed.contains(name)) return false;
  w.shared.names.insert(name);
  if (past_store) w.shared.bypassed.insert(name);
  past_store_ = past_store;
  return remembered_ = true;
}

bool claim::runs_past_store() const {
  const std::lock_guard lock(w.shared.names_lock);
  return w.shared.bypassed.contains(std::string(engine.name()));
}

bool claim::settled_past_store() {
  if (!std::exchange(past_store_, false)) return false;
  const std::lock_guard lock(w.shared.names_lock);
  w.shared.bypassed.erase(std::string(engine.name()));
  return true;
}

// -------------------------------------------------------------------------------------------------------------- making

std::shared_ptr<claim> make_claim(worker& w, std::shared_ptr<proxy::runtime> r, const route_state& route,
                                  idempotency::identity id, const idempotency::request_view& request,
                                  idempotency::fingerprint_source& others) {
  const auto& settings = route.route->idempotency;
  idempotency::engine::setup setup;
  setup.route = &settings;
  setup.name = std::move(id.name);
  setup.print = idempotency::compute_fingerprint(route.fingerprint, request);
  setup.others = &others;
  setup.times = route.times.get();
  if (id.by_fingerprint) setup.lifetime = settings.key.fingerprint_ttl;
  setup.notify = settings.in_flight.respond == config::in_flight_respond::wait;
  return std::allocate_shared<claim>(memory::block_allocator<claim>(), w, std::move(r), std::move(setup));
}

}  // namespace idem::proxy
