#include "proxy/server_tls.hpp"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace idem::proxy {

namespace ssl = boost::asio::ssl;

namespace {

constexpr unsigned char http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

/// http/1.1 if the client offers it; a client that offers only other protocols is refused (RFC 7301 §3.2).
int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned in_size,
                    void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, size, http11, sizeof http11, in, in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

struct free_object {
  void operator()(X509* c) const { X509_free(c); }
  void operator()(BIO* b) const { BIO_free(b); }
};

}  // namespace

std::optional<std::string> subject_of_peer(SSL* connection) {
  const std::unique_ptr<X509, free_object> certificate(SSL_get1_peer_certificate(connection));
  const std::unique_ptr<BIO, free_object> text(BIO_new(BIO_s_mem()));
  if (!certificate || !text || SSL_get_verify_result(connection) != X509_V_OK) return std::nullopt;
  const auto* name = X509_get_subject_name(certificate.get());
  if (X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) < 0) return std::nullopt;
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return std::string(data, static_cast<std::size_t>(size > 0 ? size : 0));
}

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
    // Without a name for them OpenSSL refuses to resume sessions of clients that it has verified.
    constexpr unsigned char session_name[] = "idem";
    SSL_CTX_set_session_id_context(context->native_handle(), session_name, sizeof session_name - 1);
    context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, ec);
  }
  return context;
}

}  // namespace idem::proxy
