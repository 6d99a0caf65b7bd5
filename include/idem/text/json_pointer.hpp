// JSON pointers (RFC 6901).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace idem::text {

/// A pointer's reference tokens, unescaped.
using json_pointer = std::vector<std::string>;

/// Nothing if `text` is no pointer: it must begin with a slash, and `~` be followed by 0 or 1. (The empty pointer, the
/// whole document, is of no use here and counts as none.)
std::optional<json_pointer> parse_json_pointer(std::string_view text);

/// Whether a token names the element at `index`: its decimal digits, without leading zeros.
bool names_index(std::string_view token, std::size_t index);

}  // namespace idem::text
