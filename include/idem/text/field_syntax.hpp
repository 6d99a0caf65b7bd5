// What field values are made of (RFC 9110 §5.5, §5.6): classes of characters, as tables and as loops without early
// exit, which compilers vectorise, and the pieces of lists.
#pragma once

#include <array>
#include <string_view>

#include "idem/text/ascii.hpp"
#include "idem/text/split.hpp"

namespace idem::text {

namespace detail {

consteval std::array<bool, 256> token_table() {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 128; ++c) table[c] = is_alnum(static_cast<char>(c));
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}
inline constexpr auto tokens = token_table();

}  // namespace detail

constexpr bool is_token_char(char c) { return detail::tokens[static_cast<unsigned char>(c)]; }

/// §5.6.2: names of fields, methods and cookies. Never empty.
constexpr bool is_token(std::string_view s) {
  for (char c : s) {
    if (!is_token_char(c)) return false;
  }
  return !s.empty();
}

/// No control byte but HTAB: what §5.5 allows in a value, obs-text included.
constexpr bool is_field_text(std::string_view s) {
  bool bad = false;
  for (char c : s) bad |= is_control(c) && c != '\t';
  return !bad;
}

/// No byte that could end a line or a C string early: the least that a writer must insist on.
constexpr bool is_one_line(std::string_view s) {
  bool bad = false;
  for (char c : s) bad |= c == '\r' || c == '\n' || c == '\0';
  return !bad;
}

/// Without the spaces and tabs at both ends (OWS of §5.6.3).
constexpr std::string_view trim_ows(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// Takes the first member off a list (§5.6.1), without the white space around it. It may be empty.
constexpr std::string_view take_member(std::string_view& list) { return trim_ows(take_part(list, ',')); }

}  // namespace idem::text
