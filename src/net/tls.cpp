#include "idem/net/tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

namespace idem::net {

error_code trust(asio::ssl::context& context, const std::string& ca_file) {
  error_code ec;
  if (ca_file.empty()) {
    context.set_default_verify_paths(ec);
  } else {
    context.load_verify_file(ca_file, ec);
  }
  return ec;
}

void expect_server(tls_stream& stream, const std::string& configured, bool verify) {
  error_code ec;
  // certificates and the handshake (RFC 6066 §3) know names without the dot of the root
  const std::string name = configured.substr(0, configured.size() - (configured.ends_with('.') ? 1 : 0));
  stream.set_verify_mode(verify ? asio::ssl::verify_peer : asio::ssl::verify_none, ec);
  if (verify) stream.set_verify_callback(asio::ssl::host_name_verification(name), ec);
  asio::ip::make_address(name, ec);
  if (ec) SSL_set_tlsext_host_name(stream.native_handle(), name.c_str());
}

}  // namespace idem::net
