#include "idem/text/utf8.hpp"

namespace idem::text {

/// The lead byte promises how many bytes follow, and the range of the first of them (RFC 3629 §4). The narrow ranges
/// keep out what must not be written so.
utf8_sequence first_sequence(std::string_view text) {
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

}  // namespace idem::text
