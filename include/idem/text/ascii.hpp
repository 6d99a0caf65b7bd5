// Letters, digits and control bytes of ASCII, whatever the locale. What is no ASCII belongs to none of the classes and
// has no case.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace idem::text {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }
/// VCHAR of RFC 5234: printable, and no space.
constexpr bool is_visible(char c) { return c > ' ' && c < 0x7f; }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

namespace detail {

consteval std::array<char, 256> lower_table() {
  std::array<char, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return table;
}
inline constexpr auto lower = lower_table();

}  // namespace detail

constexpr char to_lower(char c) { return detail::lower[static_cast<unsigned char>(c)]; }

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

/// Equality without case. Never reads beyond either view.
constexpr bool iequals(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

constexpr bool istarts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && iequals(text.substr(0, prefix.size()), prefix);
}

constexpr bool iends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && iequals(text.substr(text.size() - suffix.size()), suffix);
}

}  // namespace idem::text
