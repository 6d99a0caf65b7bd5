#include "idem/config/base64.hpp"

namespace idem::config {
namespace {

int value_of(char c, base64_alphabet alphabet) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  const bool url = alphabet == base64_alphabet::url;
  if (c == (url ? '-' : '+')) return 62;
  if (c == (url ? '_' : '/')) return 63;
  return -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text, base64_alphabet alphabet) {
  if (alphabet == base64_alphabet::standard) {
    if (text.size() % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = value_of(c, alphabet);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
    bits &= (1u << count) - 1;
  }
  if (bits != 0) return std::nullopt;
  return out;
}

}  // namespace idem::config
