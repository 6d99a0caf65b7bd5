// Bytes both ways after 101 Switching Protocols (RFC 9110 §7.8), half-closes passed on.
#pragma once

#include "proxy/client_connection.hpp"
#include "proxy/upstream_exchange.hpp"

namespace idem::proxy {

/// Ends the sending side and nothing else; on TLS by close_notify.
net::task<bool> half_close(net::stream& to);

/// Ends when both directions have ended or one has failed. Bytes that came along with the heads go first.
/// @param request ends when the client's request has gone up: what follows it belongs to the tunnel. False if it never
///        will have as a whole, which is a failure
net::task<void> run_tunnel(client_connection& c, upstream_exchange& up, net::task<bool> request);

}  // namespace idem::proxy
