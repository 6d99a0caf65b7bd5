// TLS towards a server: whom this side trusts, and whom it expects to meet.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <string>

#include "idem/net/types.hpp"

namespace idem::net {

using tls_stream = asio::ssl::stream<socket&>;

/// Trusts the authorities of a PEM file, or, without one, those of the system. The error is OpenSSL's.
error_code trust(asio::ssl::context& context, const std::string& ca_file);

/// To be called before the handshake.
/// @param configured host name, with or without the dot of the root, or address: the handshake tells the server which
///        of its names is meant, unless it is an address (RFC 6066 §3), and its certificate must be made out to it
/// @param verify false: the certificate may be anybody's
void expect_server(tls_stream& stream, const std::string& configured, bool verify);

}  // namespace idem::net
