#include "idempotency/lone_surrogates.hpp"

#include <algorithm>
#include <optional>

#include "idem/text/hex.hpp"

namespace idem::idempotency {
namespace {

constexpr std::size_t escape_size = 6;

/// The unit of UTF-16 that `\uXXXX` at the text's front stands for.
std::optional<unsigned> escaped_unit(std::string_view text) {
  if (text.size() < escape_size || !text.starts_with("\\u")) return std::nullopt;
  unsigned char bytes[2];
  if (!text::read_hex(text.substr(2, 4), bytes, sizeof bytes, text::hex_case::any)) return std::nullopt;
  return static_cast<unsigned>(bytes[0] << 8 | bytes[1]);
}

bool leads(std::optional<unsigned> unit) { return unit && *unit >> 10 == 0xd800 >> 10; }
bool trails(std::optional<unsigned> unit) { return unit && *unit >> 10 == 0xdc00 >> 10; }

void append_three_bytes(std::string& out, unsigned unit) {
  out += static_cast<char>(0xe0 | unit >> 12);
  out += static_cast<char>(0x80 | (unit >> 6 & 0x3f));
  out += static_cast<char>(0x80 | (unit & 0x3f));
}

}  // namespace

std::string with_bytes_for_lone_surrogates(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const std::string_view before = json.substr(0, json.find('\\'));
    out += before;
    json.remove_prefix(before.size());
    const auto unit = escaped_unit(json);
    const bool pair = leads(unit) && trails(escaped_unit(json.substr(escape_size)));
    const bool lone = !pair && (leads(unit) || trails(unit));
    // after a backslash that begins no such escape, the next character is not the beginning of one either
    const std::size_t size = std::min(pair ? 2 * escape_size : unit ? escape_size : 2, json.size());
    if (lone) {
      append_three_bytes(out, *unit);
    } else {
      out += json.substr(0, size);
    }
    json.remove_prefix(size);
  }
  return out;
}

}  // namespace idem::idempotency
