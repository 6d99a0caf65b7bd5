// "did you mean": the nearest of the words that would have been right.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace idem::config {

/// The nearest word, or an empty one when nothing is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// ` (did you mean "lease"?)`, or an empty string when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace idem::config
