// Cutting a fuzzer's input into what a target needs.
#pragma once

#include <string_view>

namespace idem::fuzz {

/// Cuts one line off the front, without its line feed.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  return line;
}

}  // namespace idem::fuzz
