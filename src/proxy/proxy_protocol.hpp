// The PROXY protocol, versions 1 and 2, as load balancers send it before the first byte of a client: who the client
// really is. Read only where the configuration says that it is sent (server.proxy_protocol): anybody else could lie
// with it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "idem/net/stream.hpp"

namespace idem::proxy {

/// What the bytes so far say. Pure.
struct proxy_header {
  enum class kind : unsigned char {
    need,    ///< `need` bytes in all are needed to go on
    found,   ///< complete; `address` is the client's, or empty where the balancer speaks for itself (LOCAL, UNKNOWN)
    invalid  ///< no PROXY header, or one that breaks its form
  };
  kind type = kind::invalid;
  std::size_t need = 0;
  std::string address;
};
/// @param bytes from the first of the connection; exactly as many as the last call asked for (12 at first)
proxy_header parse_proxy_header(std::string_view bytes);

/// Reads the header off a new connection, and not a byte more (what follows may be a TLS handshake). False if the
/// connection is to be closed: no header, a bad one, or the peer went away. `peer` is replaced by the client's address.
/// The caller watches the time.
net::task<bool> read_proxy_header(net::stream& stream, std::string& peer);

}  // namespace idem::proxy
