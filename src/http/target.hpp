// Request targets (RFC 9112 §3.2) and authorities (RFC 9110 §4.2, RFC 3986 §3.2).
#pragma once

#include <string_view>

#include "idem/http/head.hpp"

namespace idem::http {

/// uri-host with an optional port: a name, an IPv4 address or an IPv6 literal in brackets. No user information, no
/// comma (a list of hosts), nothing percent-encoded that is not well-formed.
bool valid_authority(std::string_view authority);

/// Splits head.target into path, query and, of an absolute-form, the authority.
/// @return empty, or what is wrong
std::string_view split_target(request_head& head);

}  // namespace idem::http
