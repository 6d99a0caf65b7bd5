// base64 (RFC 4648 §4, §5), strictly: one text for one string of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace idem::config {

enum class base64_alphabet : std::uint8_t {
  standard,  ///< with + and /, padded
  url        ///< with - and _, never padded, as in tokens (RFC 7515 §2)
};

/// Nothing for other characters, wrong padding, or bits that are left over and not zero.
std::optional<std::string> decode_base64(std::string_view text, base64_alphabet alphabet);

}  // namespace idem::config
