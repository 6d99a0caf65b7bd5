// Percent-encoding (RFC 3986 §2.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace idem::text {

/// The bytes that `text` stands for. Nothing if a percent sign is not followed by two hex digits, in any case.
/// @param plus what a `+` stands for: itself in URLs, a space in forms and queries
std::optional<std::string> percent_decode(std::string_view text, char plus = '+');

/// The same, behind what `out` has already. False: as far as it could be read.
bool append_percent_decoded(std::string& out, std::string_view text, char plus);

}  // namespace idem::text
