#include "proxy/tls.hpp"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "idem/memory/freed_by.hpp"
#include "idem/net/tls.hpp"

namespace idem::proxy {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

/// As ALPN lists it.
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

std::shared_ptr<ssl::context> make_context(ssl::context::method side) {
  auto context = std::make_shared<ssl::context>(side);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  return context;
}

/// Returns the key of the file that cannot be used, or nothing.
std::string load_pair(ssl::context& context, const std::string& certificate, const std::string& key, error_code& ec) {
  if (context.use_certificate_chain_file(certificate, ec); ec) return "certificate";
  if (context.use_private_key_file(key, ssl::context::pem, ec); ec) return "key";
  return {};
}

}  // namespace

std::optional<std::string> subject_of_peer(SSL* connection) {
  const memory::owned_by_c<X509, X509_free> certificate(SSL_get1_peer_certificate(connection));
  const memory::owned_by_c<BIO, BIO_free> text(BIO_new(BIO_s_mem()));
  if (!certificate || !text || SSL_get_verify_result(connection) != X509_V_OK) return std::nullopt;
  const auto* name = X509_get_subject_name(certificate.get());
  if (X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) < 0) return std::nullopt;
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return std::string(data, static_cast<std::size_t>(size > 0 ? size : 0));
}

std::shared_ptr<ssl::context> make_server_tls(const config::server_tls& settings, std::string& error) {
  if (!settings.enabled()) return nullptr;
  auto context = make_context(ssl::context::tls_server);
  error_code ec;
  const auto fail = [&](const std::string& key) {
    error = "server.tls." + key + " cannot be used: " + ec.message();
    return nullptr;
  };
  SSL_CTX_set_alpn_select_cb(context->native_handle(), choose_protocol, nullptr);
  if (const auto bad = load_pair(*context, settings.certificate, settings.key, ec); !bad.empty()) return fail(bad);
  if (!settings.client_ca.empty()) {
    if (context->load_verify_file(settings.client_ca, ec); ec) return fail("client_ca");
    // Without a name for them OpenSSL refuses to resume sessions of clients that it has verified.
    constexpr unsigned char session_name[] = "idem";
    SSL_CTX_set_session_id_context(context->native_handle(), session_name, sizeof session_name - 1);
    context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, ec);
  }
  return context;
}

std::shared_ptr<ssl::context> make_upstream_tls(const config::upstream_tls& settings, std::string& error) {
  if (!settings.enabled) return nullptr;
  auto context = make_context(ssl::context::tls_client);
  error_code ec;
  const auto fail = [&](const std::string& what) {
    error = what + " cannot be read: " + ec.message();
    return nullptr;
  };
  SSL_CTX_set_alpn_protos(context->native_handle(), http11, sizeof http11);
  if (ec = net::trust(*context, settings.ca); ec) {
    return fail(settings.ca.empty() ? "the system's certificate authorities" : "upstream.tls.ca");
  }
  if (settings.certificate.empty()) return context;
  const auto bad = load_pair(*context, settings.certificate, settings.key, ec);
  if (!bad.empty()) return fail("upstream.tls." + bad);
  return context;
}

}  // namespace idem::proxy
