// Taking a text apart from its front.
#pragma once

#include <algorithm>
#include <string_view>

namespace idem::text {

/// Cuts what stands before the first `by` off `text`, and the `by` with it; without one that is all of it. A `by` at
/// the end leaves nothing behind, so that no empty last part is seen.
constexpr std::string_view take_part(std::string_view& text, char by) {
  const std::string_view part = text.substr(0, text.find(by));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

}  // namespace idem::text
