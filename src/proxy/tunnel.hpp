// Bytes both ways after 101 Switching Protocols (RFC 9110 §7.8), half-closes passed on.
#pragma once

#include "proxy/client_connection.hpp"
#include "proxy/upstream_exchange.hpp"

namespace idem::proxy {

/// Ends when both directions have ended or one has failed. Bytes that came along with the heads go first.
net::task<void> run_tunnel(client_connection& c, upstream_exchange& up);

}  // namespace idem::proxy
