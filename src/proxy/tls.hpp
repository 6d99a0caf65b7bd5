// The TLS contexts of both sides: of the listeners, and of connections to the backend. Both speak TLS 1.2 at least, and
// HTTP/1.1 by ALPN (RFC 7301). A context is made once and shared by all threads.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <optional>
#include <string>

#include "idem/config/config.hpp"

namespace idem::proxy {

/// Null if TLS is off, or with `error` as a sentence that names the key of the configuration if a file cannot be used.
/// Asks clients for certificates if a CA for them is named.
std::shared_ptr<boost::asio::ssl::context> make_server_tls(const config::server_tls& settings, std::string& error);

/// The same for connections to the backend, which each still must say whom they expect (net::expect_server).
std::shared_ptr<boost::asio::ssl::context> make_upstream_tls(const config::upstream_tls& settings, std::string& error);

/// Subject of the certificate that the peer has shown and OpenSSL has verified, as RFC 2253 writes it (UTF-8); nothing
/// without one.
std::optional<std::string> subject_of_peer(SSL* connection);

}  // namespace idem::proxy
