#include "idem/telemetry/metrics.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "idem/telemetry/version.hpp"
#include "telemetry/exposition.hpp"
#include "telemetry/log_queue.hpp"
#include "telemetry/process.hpp"

namespace idem::telemetry {
namespace {

using kind = exposition::kind;

// Blocks of two workers on one cache line would undo what they are for.
template <class T>
struct alignas(64) apart : T {};

// Underscores do not occur in routes' names, so this is nobody's name.
constexpr std::string_view no_route = "_none";

constexpr auto bounds_ns = [] {
  std::array<std::int64_t, histogram::bounds.size()> ns{};
  for (std::size_t i = 0; i < ns.size(); ++i) ns[i] = static_cast<std::int64_t>(histogram::bounds[i] * 1e9 + 0.5);
  return ns;
}();

}  // namespace

void histogram::observe(std::chrono::nanoseconds t) {
  const auto ns = std::max<std::int64_t>(t.count(), 0);
  const auto bucket = std::lower_bound(bounds_ns.begin(), bounds_ns.end(), ns) - bounds_ns.begin();
  counts[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_ns.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed);
}

struct registry::impl {
  using per_worker = std::vector<std::unique_ptr<apart<route_block>>>;  // null until the worker asks for it

  explicit impl(unsigned count) : workers(count) {
    for (auto& w : workers) w = std::make_unique<apart<worker_block>>();
  }

  void write_requests(exposition& out) const;
  void write_latencies(exposition& out) const;
  void write_workers(exposition& out) const;
  void write_state(exposition& out) const;

  std::vector<std::unique_ptr<apart<worker_block>>> workers;
  std::atomic<std::uint64_t> reloads_ok{0}, reloads_failed{0};
  std::atomic<bool> last_reload_ok{true};
  std::atomic<bool> draining{false};

  mutable std::mutex routes_mutex;  // guards the map, not the counters in the blocks
  std::map<std::string, per_worker, std::less<>> routes;
};

void registry::impl::write_requests(exposition& out) const {
  out.family("idempotency_proxy_requests_total", kind::counter, "Requests by what was decided about them.");
  for (const auto& [name, blocks] : routes) {
    for (std::size_t d = 0; d < decision_count; ++d) {
      std::uint64_t total = 0;
      for (const auto& block : blocks) {
        if (block) total += block->decisions[d].load(std::memory_order_relaxed);
      }
      const auto what = static_cast<decision>(d);
      // these two exist from the start, so that rates and alerts have something to begin with
      const bool always = !name.empty() && (what == decision::executed || what == decision::replayed);
      if (total == 0 && !always) continue;
      out.sample({{"route", name.empty() ? no_route : name}, {"decision", name_of(what)}}, total);
    }
  }
}

void registry::impl::write_latencies(exposition& out) const {
  out.family("idempotency_proxy_upstream_seconds", kind::histogram,
             "Time of claimed calls, from the first byte sent to the backend to its whole answer.");
  for (const auto& [name, blocks] : routes) {
    if (name.empty()) continue;  // nothing is claimed without a route
    histogram_sums sums;
    for (const auto& block : blocks) {
      if (block) sums.add(block->upstream);
    }
    out.sample({{"route", name}}, sums);
  }

  histogram_sums claim, complete, other;
  for (const auto& w : workers) {
    claim.add(w->store_claim);
    complete.add(w->store_complete);
    other.add(w->store_other);
  }
  out.family("idempotency_proxy_store_seconds", kind::histogram, "Time that operations on the store took.");
  out.sample({{"op", "claim"}}, claim);
  out.sample({{"op", "complete"}}, complete);
  out.sample({{"op", "other"}}, other);
}

void registry::impl::write_workers(exposition& out) const {
  auto sum = [&](auto member) {
    decltype((workers.front().get()->*member).load()) total = 0;
    for (const auto& w : workers) total += (w.get()->*member).load(std::memory_order_relaxed);
    return total;
  };
  auto gauge = [&](std::string_view name, std::string_view help, std::atomic<std::int64_t> worker_block::* member) {
    out.family(name, kind::gauge, help);
    out.sample({}, sum(member));
  };
  auto counter = [&](std::string_view name, std::string_view help, std::atomic<std::uint64_t> worker_block::* member) {
    out.family(name, kind::counter, help);
    out.sample({}, sum(member));
  };
  gauge("idempotency_proxy_connections", "Open client connections.", &worker_block::connections);
  gauge("idempotency_proxy_in_flight", "Claimed calls that run, with or without a client.", &worker_block::in_flight);
  gauge("idempotency_proxy_waiters", "Requests that wait for another one's answer.", &worker_block::waiters);
  gauge("idempotency_proxy_backlog", "Records that wait to be stored.", &worker_block::backlog);
  gauge("idempotency_proxy_upstream_idle", "Idle connections to the backend.", &worker_block::upstream_idle);
  counter("idempotency_proxy_accepted_total", "Client connections accepted.", &worker_block::accepted);
  counter("idempotency_proxy_accept_pauses_total", "Times that accepting stopped at a limit.",
          &worker_block::accept_pauses);
  counter("idempotency_proxy_upstream_connects_total", "Connections made to the backend.",
          &worker_block::upstream_connects);
  counter("idempotency_proxy_upstream_reuses_total", "Calls sent on a connection that was kept.",
          &worker_block::upstream_reuses);
  counter("idempotency_proxy_store_errors_total", "Operations on the store that failed.", &worker_block::store_errors);
  counter("idempotency_proxy_lease_renewals_total", "Leases renewed.", &worker_block::renewals);
  counter("idempotency_proxy_records_recreated_total", "Records that the store had lost while their owner ran.",
          &worker_block::recreated);
  counter("idempotency_proxy_completions_lost_total", "Answers whose record was another's, or gone, when they came.",
          &worker_block::lost_completions);
}

void registry::impl::write_state(exposition& out) const {
  const bool up = std::all_of(workers.begin(), workers.end(),
                              [](const auto& w) { return w->store_up.load(std::memory_order_relaxed) > 0; });
  auto gauge = [&](std::string_view name, std::string_view help, auto value) {
    out.family(name, kind::gauge, help);
    out.sample({}, value);
  };
  auto flag = [](bool on) { return std::int64_t{on}; };
  gauge("idempotency_proxy_store_up", "1 if every thread reaches the store.", flag(up && !workers.empty()));
  out.family("idempotency_proxy_config_reloads_total", kind::counter, "Reloads of the configuration.");
  out.sample({{"result", "success"}}, reloads_ok.load(std::memory_order_relaxed));
  out.sample({{"result", "failure"}}, reloads_failed.load(std::memory_order_relaxed));
  gauge("idempotency_proxy_config_last_reload_success", "1 if the last configuration file read was taken.",
        flag(last_reload_ok.load(std::memory_order_relaxed)));
  gauge("idempotency_proxy_draining", "1 while the process is not ready because it was told to drain.",
        flag(draining.load(std::memory_order_relaxed)));
  out.family("idempotency_proxy_log_lines_dropped_total", kind::counter,
             "Log lines given up because the log was slow.");
  out.sample({}, dropped_log_lines());
  out.family("idempotency_proxy_build_info", kind::gauge, "The program's version.");
  out.sample({{"version", version}}, std::int64_t{1});

  const auto process = read_process_stats();
  gauge("process_start_time_seconds", "When the process began, in seconds since 1970.", process.start_time);
  gauge("process_resident_memory_bytes", "Resident memory.", process.resident_bytes);
  gauge("process_open_fds", "Open file descriptors.", process.open_fds);
  gauge("process_max_fds", "Most file descriptors that may be open.", process.max_fds);
  out.family("process_cpu_seconds_total", kind::counter, "User and system CPU time.");
  out.sample({}, process.cpu_seconds);
}

registry::registry(unsigned workers) : impl_(std::make_unique<impl>(workers)) { read_process_stats(); }

registry::~registry() = default;

route_block& registry::route(unsigned worker, std::string_view name) {
  std::lock_guard lock(impl_->routes_mutex);
  auto found = impl_->routes.find(name);
  if (found == impl_->routes.end()) {
    found = impl_->routes.emplace(std::string(name), impl::per_worker(impl_->workers.size())).first;
  }
  auto& block = found->second.at(worker);
  if (!block) block = std::make_unique<apart<route_block>>();
  return *block;
}

worker_block& registry::worker(unsigned index) { return *impl_->workers.at(index); }

void registry::reload(bool ok) {
  (ok ? impl_->reloads_ok : impl_->reloads_failed).fetch_add(1, std::memory_order_relaxed);
  impl_->last_reload_ok.store(ok, std::memory_order_relaxed);
}

void registry::draining(bool on) { impl_->draining.store(on, std::memory_order_relaxed); }

bool registry::draining() const { return impl_->draining.load(std::memory_order_relaxed); }

std::string registry::text() const {
  exposition out;
  {
    std::lock_guard lock(impl_->routes_mutex);
    impl_->write_requests(out);
    impl_->write_latencies(out);
  }
  impl_->write_workers(out);
  impl_->write_state(out);
  return out.take();
}

}  // namespace idem::telemetry
