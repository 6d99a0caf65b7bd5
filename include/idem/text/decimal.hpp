// Whole numbers as decimal digits.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace idem::text {

/// A number as text: `out += decimal(n)`. The view lives as long as the object.
class decimal {
 public:
  template <std::integral Number>
  explicit decimal(Number n) : end_(std::to_chars(text_, text_ + sizeof text_, n).ptr) {}
  operator std::string_view() const {  // NOLINT(google-explicit-constructor)
    return {text_, static_cast<std::size_t>(end_ - text_)};
  }

 private:
  char text_[24];
  char* end_;
};

/// The number that the whole of `text` is: digits, for signed types also a minus before them, and nothing around them.
/// Nothing for other texts, and where the type has no room for it.
template <std::integral Number>
std::optional<Number> parse_decimal(std::string_view text) {
  Number n{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, n);
  if (error != std::errc() || end != last) return std::nullopt;
  return n;
}

/// The same, of digits only, and in the one way that a number is written: without zeros before it.
template <std::integral Number>
std::optional<Number> parse_strict_decimal(std::string_view text) {
  if (text.starts_with('-') || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return parse_decimal<Number>(text);
}

}  // namespace idem::text
