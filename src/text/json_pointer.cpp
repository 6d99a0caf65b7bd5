#include "idem/text/json_pointer.hpp"

#include "idem/text/decimal.hpp"

namespace idem::text {
namespace {

bool unescape(std::string_view token, std::string& out) {
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    ++i;
    if (i == token.size() || (token[i] != '0' && token[i] != '1')) return false;
    out += token[i] == '0' ? '~' : '/';
  }
  return true;
}

}  // namespace

std::optional<json_pointer> parse_json_pointer(std::string_view text) {
  json_pointer tokens;
  while (!text.empty()) {
    if (text.front() != '/') return std::nullopt;
    text.remove_prefix(1);
    const std::string_view token = text.substr(0, text.find('/'));
    text.remove_prefix(token.size());
    if (!unescape(token, tokens.emplace_back())) return std::nullopt;
  }
  if (tokens.empty()) return std::nullopt;
  return tokens;
}

bool names_index(std::string_view token, std::size_t index) { return token == std::string_view(decimal(index)); }

}  // namespace idem::text
