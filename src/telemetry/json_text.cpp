#include "telemetry/json_text.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>

namespace idem::telemetry {
namespace {

struct sequence {
  std::size_t length = 0;  ///< bytes to consume, at least 1
  bool valid = false;
};

/// What the lead byte promises: how many bytes follow, and the range of the first of them. The narrow ranges keep out
/// overlong forms, surrogates and what lies above U+10FFFF (RFC 3629 section 4).
sequence next_sequence(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::size_t follow = 0;
  unsigned char low = 0x80, high = 0xbf;
  if (lead < 0x80) return {1, true};
  if (lead >= 0xc2 && lead <= 0xdf) {
    follow = 1;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    follow = 2;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    follow = 3;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {1, false};
  }
  for (std::size_t i = 1; i <= follow; ++i) {
    if (i >= text.size()) return {i, false};
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < low || c > high) return {i, false};
    low = 0x80;
    high = 0xbf;
  }
  return {follow + 1, true};
}

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  constexpr char hex[] = "0123456789abcdef";
  out += "\\u00";
  out += hex[c >> 4];
  out += hex[c & 15];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
      append_escape(out, c);
      text.remove_prefix(1);
      continue;
    }
    const auto [length, valid] = next_sequence(text);
    if (valid) {
      out.append(text.substr(0, length));
    } else {
      out += "\xef\xbf\xbd";
    }
    text.remove_prefix(length);
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

}  // namespace idem::telemetry
