// One thread of the data side and everything that belongs to it. Nothing here is shared with other threads but the
// process-wide counters in `shared`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/idempotency/execution_times.hpp"
#include "idem/idempotency/fingerprint.hpp"
#include "idem/memory/block_pool.hpp"
#include "idem/net/buffer_pool.hpp"
#include "idem/net/deadline.hpp"
#include "idem/net/stream.hpp"
#include "idem/store/store.hpp"
#include "idem/telemetry/metrics.hpp"
#include "proxy/cors.hpp"
#include "proxy/unfinished.hpp"
#include "proxy/upstream_pool.hpp"

namespace idem::proxy {

class client_connection;
class aftermath;
class waiters;
class waiter_counts;
class claim;

/// What all workers share. Touched rarely, or by one relaxed atomic operation.
struct shared_state {
  std::atomic<std::size_t> in_flight{0};  ///< claimed calls, attached or not
  std::atomic<std::size_t> connections{0};
  std::atomic<bool> draining{false};
  std::atomic<bool> stopping{false};
  proxy::unfinished unfinished;

  /// Names that this process has in flight or in its backlog, where worker::remembers() says so: what is known here
  /// must not be executed on the word of a store that cannot be read.
  std::mutex names_lock;
  std::unordered_multiset<std::string> names;
  /// Those of them that were let past the store, which does not know of them yet: once it is back, it must not give
  /// them away again.
  std::unordered_set<std::string> bypassed;

  /// Until then no other foreign record is spoken of in the log.
  std::atomic<std::chrono::steady_clock::duration> foreign_quiet_until{};
};

/// A route with what is counted and learnt about it.
struct route_state {
  const config::route* route = nullptr;
  telemetry::route_block* metrics = nullptr;
  idempotency::prepared_settings fingerprint;
  std::shared_ptr<idempotency::execution_times> times;  ///< from the claim to the answer; of all threads
  cors_lines cors;
};

/// A configuration as one thread uses it. Exchanges keep the one they began with alive.
struct runtime {
  std::shared_ptr<const config::snapshot> config;
  std::shared_ptr<const idempotency::known_settings> known;
  std::shared_ptr<upstream_pool> pool;
  std::vector<route_state> routes;
  telemetry::route_block* unrouted = nullptr;
  std::shared_ptr<net::asio::ssl::context> server_tls;

  route_state* find(const config::route* r) {
    return r ? &routes[static_cast<std::size_t>(r - config->routes.data())] : nullptr;
  }
};

/// An io_context whose pending handlers can be destroyed while what they refer to is still there.
class own_context : public net::asio::io_context {
 public:
  using net::asio::io_context::io_context;
  void destroy_pending() { shutdown(); }
};

class worker {
 public:
  worker(unsigned index, shared_state& shared, store::backend& store, telemetry::registry& metrics,
         waiter_counts& counts);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  void adopt(std::shared_ptr<runtime> r) { current = std::move(r); }
  /// From now on what runs under these namespaces is known by name, and what runs already is, too. Before any thread
  /// adopts the configuration that makes it so.
  void remember(const std::set<std::string>& namespaces);
  /// Whether what runs under a namespace must be known by name: a route of it goes on without a store (on_store_error:
  /// allow), or did so under an earlier configuration, whose calls may still run.
  bool remembers(const std::string& name_space) const {
    return !remembered_.empty() && remembered_.contains(name_space);
  }
  /// Looks at the store now and then: the gauge, and renewals that cannot wait after trouble with it.
  void watch_store();

  bool draining() const { return shared.draining.load(std::memory_order_relaxed); }

  unsigned index;
  shared_state& shared;
  telemetry::worker_block& metrics;
  /// Other threads may post to it; nothing but this thread reads or writes on its sockets.
  own_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  net::deadline_wheel wheel{io};
  net::buffer_pool buffers;
  std::shared_ptr<runtime> current;
  std::unique_ptr<store::session> store;
  std::unique_ptr<proxy::aftermath> aftermath;
  std::unique_ptr<proxy::waiters> waiters;
  std::list<client_connection*> connections;
  std::list<claim*, memory::block_allocator<claim*>> claims;  ///< that execute, or whose leases are renewed

 private:
  std::set<std::string> remembered_;
  net::timer store_watch_{io};
  net::lease_clock::time_point trouble_seen_{};
};

/// The wall clock to a tick of the kernel (10 ms at most), for what people read.
std::int64_t unix_ms_now();
/// The wall clock as exact as it gets: what others have dated is compared with it.
std::int64_t unix_seconds_now();

}  // namespace idem::proxy
