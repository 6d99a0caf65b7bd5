#include <algorithm>

#include "config/address.hpp"
#include "config/rules.hpp"
#include "config/units.hpp"

namespace idem::config {
namespace {

bool too_short(milliseconds lease, const store_config& store) {
  return store.type == store_type::redis && lease < 3 * store.redis.command_timeout;
}

void check_leases(const draft& all, const store_config& store, report& out) {
  const milliseconds limit = store.redis.command_timeout;
  for (const route_draft& r : all.routes) {
    const milliseconds lease = r.idempotency.config.lease;
    // what does not fit the file itself was said
    if (!too_short(lease, store) || too_short(lease, all.config.store)) continue;
    if (refused(out, r, "lease", r.idempotency.lease)) continue;
    out.error(r.where(r.idempotency.lease, "idempotency.lease"),
              show_duration(lease) + " is less than three times the store.redis.command_timeout that this process has" +
                  " until it is restarted (" + show_duration(limit) + "), expected at least " +
                  show_duration(3 * limit));
  }
}

bool leads_to_own(const endpoint& upstream, const server_config& server, const admin_config& admin) {
  return leads_to(upstream, admin.listen) || std::any_of(server.listen.begin(), server.listen.end(),
                                                         [&](const auto& own) { return leads_to(upstream, own); });
}

void check_upstream(const draft& all, const snapshot& running, report& out) {
  const endpoint& upstream = all.config.upstream.address;
  if (upstream.text.empty() || leads_to_own(upstream, all.config.server, all.config.admin)) return;
  if (!leads_to_own(upstream, running.server, running.admin)) return;
  out.error(all.upstream_url_at,
            "is an address that this process listens on until it is restarted, expected the application's");
}

}  // namespace

void check_against_running(const draft& config, const snapshot& running, report& out) {
  check_leases(config, running.store, out);
  check_upstream(config, running, out);
}

}  // namespace idem::config
