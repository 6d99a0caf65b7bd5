#include "proxy/forwarding.hpp"

namespace idem::proxy {
namespace {

/// RFC 7239 §6.2 has a word for a client without an address; readers of X-Forwarded-For know no other.
std::string_view forwarded_address(std::string_view peer) { return peer == unix_peer ? "unknown" : peer; }

}  // namespace

http::request_edits forwarding_edits(const client_connection& c) {
  using mode = http::request_edits::forwarded;
  const auto& server = c.runtime->config->server;
  http::request_edits edits;
  edits.via = server.via;
  switch (server.forwarded) {
    case config::forwarded_policy::preserve: edits.forwarded_mode = mode::preserve; break;
    case config::forwarded_policy::append: edits.forwarded_mode = mode::append; break;
    case config::forwarded_policy::replace: edits.forwarded_mode = mode::replace; break;
    case config::forwarded_policy::remove: edits.forwarded_mode = mode::remove; break;
  }
  if (server.forwarded == config::forwarded_policy::append || server.forwarded == config::forwarded_policy::replace) {
    edits.forwarded_for = forwarded_address(c.peer());
    edits.forwarded_proto = c.runtime->server_tls ? "https" : "http";
  }
  return edits;
}

}  // namespace idem::proxy
