#include "idem/text/percent.hpp"

#include "idem/text/hex.hpp"

namespace idem::text {

bool append_percent_decoded(std::string& out, std::string_view text, char plus) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? plus : text[i];
      continue;
    }
    if (text.size() - i < 3) return false;
    const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return true;
}

std::optional<std::string> percent_decode(std::string_view text, char plus) {
  std::string out;
  out.reserve(text.size());
  if (!append_percent_decoded(out, text, plus)) return std::nullopt;
  return out;
}

}  // namespace idem::text
