#include "config/address.hpp"
#include "config/rules.hpp"

namespace idem::config {
namespace {

void check_addresses(const draft& all, report& out) {
  const auto& listen = all.config.server.listen;
  const bool admin = !out.refused("admin.listen");
  for (std::size_t i = 0; i < listen.size(); ++i) {
    if (out.refused(all.listen_at[i].path)) continue;
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (!overlaps(listen[i], listen[earlier])) continue;
      out.error(all.listen_at[i], out.value(listen[i].text) + " overlaps with " + out.value(listen[earlier].text) +
                                      ", expected addresses that can be bound together");
    }
    if (admin && overlaps(listen[i], all.config.admin.listen)) {
      out.error(all.admin_listen_at, out.value(all.config.admin.listen.text) + " overlaps with server.listen " +
                                         out.value(listen[i].text) + ", expected an address of its own");
    }
  }
}

void check_loop(const draft& all, report& out) {
  const endpoint& upstream = all.config.upstream.address;
  if (upstream.text.empty()) return;
  const auto check = [&](const endpoint& own, const place& at, const char* key) {
    if (!leads_to(upstream, own) || out.refused(at.path)) return false;
    out.error(all.upstream_url_at,
              "is the proxy's own address " + out.value(own.text) + " of " + key + ", expected the application's");
    return true;
  };
  const auto& listen = all.config.server.listen;
  for (std::size_t i = 0; i < listen.size(); ++i) {
    if (check(listen[i], all.listen_at[i], "server.listen")) return;
  }
  check(all.config.admin.listen, all.admin_listen_at, "admin.listen");
}

/// Names of the routes that take a 503 as "not executed" and would not notice if it was.
std::string routes_that_release_503(const draft& all, const report& out) {
  std::string names;
  for (const route_draft& r : all.routes) {
    const idempotency_config& c = r.route.idempotency;
    if (refused(out, r, "mode") || refused(out, r, "guarantee") || refused(out, r, "statuses")) continue;
    const bool concerned = c.mode != route_mode::off && c.guarantee == guarantee::at_most_once &&
                           c.statuses.of(503) == disposition::by_table;
    if (concerned) names += (names.empty() ? "" : ", ") + out.value(r.route.name);
  }
  return names;
}

void check_upstream(const draft& all, report& out) {
  const endpoint& upstream = all.config.upstream.address;
  if (upstream.text.empty() || is_loopback(upstream)) return;
  const std::string routes = routes_that_release_503(all, out);
  if (routes.empty()) return;
  out.warning(all.upstream_url_at,
              "the upstream is not on this machine: a gateway before it may answer 503 after the request was executed, "
              "yet a 503 frees the key for another execution; if so, put 503 into statuses.unknown of: " +
                  routes);
}

}  // namespace

void check_environment(const draft& all, report& out) {
  check_addresses(all, out);
  check_loop(all, out);
  check_upstream(all, out);
  if (all.config.store.type == store_type::memory && !out.refused("store.type")) {
    out.warning(all.store_type_at,
                "memory: records die with the process and are not shared with other replicas; redis keeps them");
  }
}

}  // namespace idem::config
