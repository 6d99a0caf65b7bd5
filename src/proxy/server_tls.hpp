// The TLS context of the listeners.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <optional>
#include <string>

#include "idem/config/config.hpp"

namespace idem::proxy {

/// Null if TLS is off. TLS 1.2 at least, ALPN http/1.1, client certificates if a CA for them is named. Sets `error` as
/// a sentence that names the key of the configuration if a file cannot be used.
std::shared_ptr<boost::asio::ssl::context> make_server_tls(const config::server_tls& settings, std::string& error);

/// Subject of the certificate that the peer has shown and OpenSSL has verified, as RFC 2253 writes it (UTF-8); nothing
/// without one.
std::optional<std::string> subject_of_peer(SSL* connection);

}  // namespace idem::proxy
