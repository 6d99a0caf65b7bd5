#include "proxy/client_connection.hpp"
#include "proxy/idempotent_exchange.hpp"
#include "proxy/observation.hpp"
#include "proxy/pass_through.hpp"

namespace idem::proxy {

namespace {

/// A route may be switched off, and most requests match none.
bool is_protected(const client_connection& c) {
  return c.route && c.route->route->idempotency.mode != config::route_mode::off;
}

/// Upgrades are never idempotent, but they are a wish that may be ignored (RFC 9110 §7.8), and must not be a way around
/// a route: the JDK's client wishes for h2c with every POST. What asks for WebSocket is a GET (RFC 6455 §4.1), and h2c
/// is gone (RFC 9113 §3.1). Nothing unsigned passes a route that verifies signatures.
bool may_upgrade(const client_connection& c) {
  if (!is_protected(c)) return true;
  const auto& head = c.parser.head();
  return head.method == "GET" && !http::iequals(head.value(http::field_id::upgrade), "h2c") &&
         !c.route->route->idempotency.signature.enabled();
}

}  // namespace

net::task<after> run_exchange(client_connection& c, const config::path_captures& captures) {
  const bool upgrades = c.facts.upgrade && may_upgrade(c);
  if (!is_protected(c) || upgrades) {
    pass_through::options o;
    o.response_timeout = c.route ? c.route->route->response_timeout : c.runtime->config->upstream.response_timeout;
    pass_through exchange(c, o);
    co_return co_await exchange.run();
  }
  if (c.route->route->idempotency.mode == config::route_mode::observe) co_return co_await run_observed(c, captures);
  c.facts.upgrade = false;
  idempotent_exchange exchange(c, captures);
  co_return co_await exchange.run();
}

}  // namespace idem::proxy
