// Bytes as hexadecimal digits and back (base16 of RFC 4648 §8).
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "idem/text/ascii.hpp"

namespace idem::text {

/// What this program writes is lower case.
inline constexpr char hex_digits[] = "0123456789abcdef";

/// `count` bytes as 2 × `count` digits at `to`.
constexpr void write_hex(char* to, const unsigned char* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    *to++ = hex_digits[from[i] >> 4];
    *to++ = hex_digits[from[i] & 15];
  }
}

/// The two digits of one byte.
inline void append_hex(std::string& out, char byte) {
  const auto bits = static_cast<unsigned char>(byte);
  char two[2];
  write_hex(two, &bits, 1);
  out.append(two, sizeof two);
}

enum class hex_case : unsigned char { lower, any };

namespace detail {

/// Records are read with each replay, so a digit costs one look-up and no branch.
consteval std::array<signed char, 256> hex_values(hex_case accepted) {
  std::array<signed char, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    const char digit = accepted == hex_case::any ? to_lower(static_cast<char>(c)) : static_cast<char>(c);
    const bool letter = digit >= 'a' && digit <= 'f';
    table[c] = static_cast<signed char>(is_digit(digit) ? digit - '0' : letter ? digit - 'a' + 10 : -1);
  }
  return table;
}
inline constexpr std::array hex_values_of{hex_values(hex_case::lower), hex_values(hex_case::any)};

}  // namespace detail

/// Value of a digit, or -1.
constexpr int hex_value(char c, hex_case accepted = hex_case::any) {
  return detail::hex_values_of[static_cast<std::size_t>(accepted)][static_cast<unsigned char>(c)];
}

/// Reads `count` bytes off a text of exactly twice as many digits. False for any other text; `to` then holds a part.
constexpr bool read_hex(std::string_view text, unsigned char* to, std::size_t count, hex_case accepted) {
  if (text.size() != 2 * count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const int high = hex_value(text[2 * i], accepted), low = hex_value(text[2 * i + 1], accepted);
    if ((high | low) < 0) return false;
    to[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return true;
}

}  // namespace idem::text
