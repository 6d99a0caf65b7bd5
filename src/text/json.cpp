#include "idem/text/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "idem/text/hex.hpp"
#include "idem/text/utf8.hpp"

namespace idem::text {
namespace {

bool is_special(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

// Whether one of eight bytes is special. A difference borrows into a byte's top bit only if that byte, or one that is
// special itself, was below what is taken from it.
bool holds_special(std::uint64_t eight) {
  constexpr std::uint64_t each = 0x0101010101010101, top = 0x80 * each;
  const auto below = [](std::uint64_t x, std::uint64_t n) { return (x - n * each) & ~x & top; };
  return (below(eight, 0x20) | below(eight ^ '"' * each, 1) | below(eight ^ '\\' * each, 1)) != 0;
}

bool has_special(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, text.data() + i, 8);
    if (holds_special(eight)) return true;
  }
  return std::any_of(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), is_special);
}

/// Nothing to escape, and no part of a longer sequence.
bool is_plain(char c) { return !is_special(c) && static_cast<unsigned char>(c) < 0x7f; }

void append_escape(std::string& out, char c) {
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else {
    out += "\\u00";
    append_hex(out, c);
  }
}

void append_readable_escape(std::string& out, char c) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: append_escape(out, c);
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view utf8) {
  out += '"';
  if (has_special(utf8)) {
    for (const char c : utf8) {
      if (is_special(c)) {
        append_escape(out, c);
      } else {
        out += c;
      }
    }
  } else {
    out += utf8;
  }
  out += '"';
}

void append_json_string_of_bytes(std::string& out, std::string_view bytes) {
  out += '"';
  for (;;) {
    const auto plain = static_cast<std::size_t>(std::find_if_not(bytes.begin(), bytes.end(), is_plain) - bytes.begin());
    out.append(bytes.substr(0, plain));
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    if (is_special(bytes[0]) || bytes[0] == 0x7f) {
      append_readable_escape(out, bytes[0]);
      bytes.remove_prefix(1);
      continue;
    }
    const auto [length, valid] = first_sequence(bytes);
    if (valid) {
      out.append(bytes.substr(0, length));
    } else {
      out += "\xef\xbf\xbd";
    }
    bytes.remove_prefix(length);
  }
  out += '"';
}

void append_json_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[32];
  auto [end, ec] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

}  // namespace idem::text
