#include "proxy/client_connection.hpp"
#include "proxy/idempotent_exchange.hpp"
#include "proxy/pass_through.hpp"

namespace idem::proxy {

namespace {

/// Upgrades are never idempotent; a route may be switched off; and most requests match no route at all.
bool passes(const client_connection& c) {
  return !c.route || c.route->route->idempotency.mode == config::route_mode::off || c.facts.upgrade;
}

}  // namespace

net::task<after> run_exchange(client_connection& c, const config::path_captures& captures) {
  if (passes(c)) {
    pass_through::options o;
    o.response_timeout = c.route ? c.route->route->response_timeout : c.runtime->config->upstream.response_timeout;
    pass_through exchange(c, o);
    co_return co_await exchange.run();
  }
  idempotent_exchange exchange(c, captures);
  co_return co_await exchange.run();
}

}  // namespace idem::proxy
