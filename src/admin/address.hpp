// From a configured address to socket addresses, for the listener and the client alike.
#pragma once

#include <vector>

#include "idem/config/config.hpp"
#include "idem/net/types.hpp"

namespace idem::admin {

using stream_endpoint = net::asio::generic::stream_protocol::endpoint;

/// Blocks while a name is looked up; a literal is not looked up.
std::vector<stream_endpoint> resolve(const config::endpoint& address, net::error_code& ec);

/// Whether a peer is on this machine: 127.0.0.0/8, ::1, their mapped forms, or a unix socket.
bool is_local(const stream_endpoint& peer);

}  // namespace idem::admin
