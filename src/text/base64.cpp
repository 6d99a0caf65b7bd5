#include "idem/text/base64.hpp"

namespace idem::text {

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
    const int value = base64_value(c, alphabet);
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

void append_base64(std::string& out, std::span<const unsigned char> bytes, base64_alphabet alphabet) {
  constexpr std::string_view standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::string_view url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const bool pads = alphabet == base64_alphabet::standard;
  const auto digits = pads ? standard : url;
  const std::size_t begin = out.size();
  out.resize(begin + (pads ? (bytes.size() + 2) / 3 * 4 : (bytes.size() * 8 + 5) / 6), '=');
  char* p = out.data() + begin;
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const unsigned three =
        static_cast<unsigned>(bytes[i]) << 16 | static_cast<unsigned>(bytes[i + 1]) << 8 | bytes[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) *p++ = digits[three >> shift & 63];
  }
  const std::size_t left = bytes.size() - i;
  if (left == 0) return;
  const unsigned last =
      static_cast<unsigned>(bytes[i]) << 16 | (left == 2 ? static_cast<unsigned>(bytes[i + 1]) << 8 : 0);
  for (std::size_t n = 0; n <= left; ++n) *p++ = digits[last >> (18 - 6 * n) & 63];
}

}  // namespace idem::text
