// Character classes of RFC 9110 §5.5 and §5.6.2, as tables and as loops without early exit, which compilers vectorise.
#pragma once

#include <array>
#include <string_view>

namespace idem::http {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

namespace detail {

consteval std::array<bool, 256> token_table() {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 128; ++c) table[c] = is_digit(static_cast<char>(c)) || is_alpha(static_cast<char>(c));
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}

consteval std::array<char, 256> lower_table() {
  std::array<char, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return table;
}

inline constexpr auto tokens = token_table();
inline constexpr auto lower = lower_table();

}  // namespace detail

constexpr bool is_token_char(char c) { return detail::tokens[static_cast<unsigned char>(c)]; }
constexpr char to_lower(char c) { return detail::lower[static_cast<unsigned char>(c)]; }

constexpr bool is_token(std::string_view s) {
  for (char c : s) {
    if (!is_token_char(c)) return false;
  }
  return !s.empty();
}

/// No control byte but HTAB: what RFC 9110 §5.5 allows in a field value, obs-text included.
constexpr bool is_field_text(std::string_view s) {
  bool bad = false;
  for (char c : s) bad |= (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  return !bad;
}

/// No byte that could end a line or a C string early: the least that a writer must insist on.
constexpr bool is_one_line(std::string_view s) {
  bool bad = false;
  for (char c : s) bad |= c == '\r' || c == '\n' || c == '\0';
  return !bad;
}

constexpr std::string_view trim_ows(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// Takes the first member off a list (RFC 9110 §5.6.1), without the white space around it. It may be empty.
constexpr std::string_view take_member(std::string_view& list) {
  const std::size_t comma = list.find(',');
  const std::string_view member = trim_ows(list.substr(0, comma));
  list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  return member;
}

}  // namespace idem::http
