// base64 (RFC 4648 §4, §5), strictly: one text for one string of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace idem::text {

enum class base64_alphabet : std::uint8_t {
  standard,  ///< with + and /, padded
  url        ///< with - and _, never padded, as in tokens (RFC 7515 §2) and in the names of records
};

/// The six bits of a character, or -1.
constexpr int base64_value(char c, base64_alphabet alphabet) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  const bool url = alphabet == base64_alphabet::url;
  if (c == (url ? '-' : '+')) return 62;
  if (c == (url ? '_' : '/')) return 63;
  return -1;
}

/// Nothing for other characters, wrong padding, or bits that are left over and not zero.
std::optional<std::string> decode_base64(std::string_view text, base64_alphabet alphabet);

void append_base64(std::string& out, std::span<const unsigned char> bytes, base64_alphabet alphabet);

}  // namespace idem::text
