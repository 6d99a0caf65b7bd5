// What a configuration file may consist of.
#pragma once

#include <cstddef>
#include <string_view>

namespace idem::config {

/// Offset of the first byte that does not belong to well-formed UTF-8 (RFC 3629) or is a control character other than
/// tab, line feed and carriage return; npos if there is none.
std::size_t first_unreadable(std::string_view text);

}  // namespace idem::config
