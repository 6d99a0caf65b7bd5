#include "proxy/server_tls.hpp"

#include <openssl/ssl.h>

namespace idem::proxy {

namespace ssl = boost::asio::ssl;

namespace {

constexpr unsigned char http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

/// http/1.1 if the client offers it; a client that offers only other protocols is refused (RFC 7301 §3.2).
int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned in_size, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, size, http11, sizeof http11, in, in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

std::shared_ptr<ssl::context> make_server_tls(const config::server_tls& settings, std::string& error) {
  if (!settings.enabled()) return nullptr;
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code ec;
  const auto fail = [&](const char* key) {
    error = std::string(key) + " cannot be used: " + ec.message();
    return nullptr;
  };
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_alpn_select_cb(context->native_handle(), choose_protocol, nullptr);
  if (context->use_certificate_chain_file(settings.certificate, ec); ec) return fail("server.tls.certificate");
  if (context->use_private_key_file(settings.key, ssl::context::pem, ec); ec) return fail("server.tls.key");
  if (!settings.client_ca.empty()) {
    if (context->load_verify_file(settings.client_ca, ec); ec) return fail("server.tls.client_ca");
    context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, ec);
  }
  return context;
}

}  // namespace idem::proxy
