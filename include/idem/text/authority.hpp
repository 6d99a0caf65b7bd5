// The authority of a request (RFC 9110 §4.2, RFC 3986 §3.2).
#pragma once

#include <string_view>

namespace idem::text {

/// The host of a valid authority: a name or IPv4 address, or an IPv6 literal with its brackets. Without the port: by
/// which port a client came in says nothing about what it wants, and a retry may come in by another one (a forwarded
/// port, another replica of the proxy). Without the dot of the root too (RFC 1034 §3.1), with which a name is the same
/// name. In the case that it came in.
constexpr std::string_view host_of(std::string_view authority) {
  const auto colon = authority.rfind(':');
  const auto bracket = authority.rfind(']');
  const bool ported = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  std::string_view host = ported ? authority.substr(0, colon) : authority;
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

}  // namespace idem::text
