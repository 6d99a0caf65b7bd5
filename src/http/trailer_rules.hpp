// Which trailer fields may be relayed (RFC 9110 §6.5.1).
#pragma once

#include <string_view>

namespace idem::http {

/// Whether a trailer of this name is left out: a recipient that merges trailers into the head must not be able to
/// change framing, routing, authentication, the key or how the content is read.
bool is_forbidden_trailer(std::string_view name);

}  // namespace idem::http
