#include "proxy/worker.hpp"

#include "idem/net/coarse_clock.hpp"
#include "proxy/aftermath.hpp"
#include "proxy/claim.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/waiters.hpp"

namespace idem::proxy {

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(net::coarse_wall_now().time_since_epoch()).count();
}

std::int64_t unix_seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

worker::worker(unsigned i, shared_state& s, store::backend& backend, telemetry::registry& r, waiter_counts& counts)
    : index(i),
      shared(s),
      metrics(r.worker(i)),
      store(backend.open(io)),
      aftermath(std::make_unique<proxy::aftermath>(*this)),
      waiters(std::make_unique<proxy::waiters>(*this, counts)) {}

/// Coroutines that were cut off hold connections and claims, which refer to members of this object.
worker::~worker() {
  store->close();  // its completions need all the rest
  io.destroy_pending();
}

void worker::remember(const std::set<std::string>& namespaces) {
  remembered_.insert(namespaces.begin(), namespaces.end());
  for (auto* c : claims) {
    if (remembers(c->engine.route().name_space)) c->remember_name(false);
  }
}

void worker::watch_store() {
  const auto h = store->status();
  metrics.store_up.store(h.reachable ? 1 : 0, std::memory_order_relaxed);
  if (h.ever_troubled && h.last_trouble != trouble_seen_) {
    trouble_seen_ = h.last_trouble;
    const auto all = claims;  // one that finds its key lost takes itself out
    for (auto* c : all) c->renew_soon();
  }
  store_watch_.expires_after(std::chrono::milliseconds(250));
  store_watch_.async_wait([this](const net::error_code& ec) {
    if (!ec) watch_store();
  });
}

}  // namespace idem::proxy
