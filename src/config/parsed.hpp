// The result of reading one piece of text: a value, or the reason why there is none, worded for the user.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace idem::config {

template <class T>
struct parsed {
  std::optional<T> value;
  /// Follows the value in a message, e.g. `has no unit, expected a duration such as 15s`. Holds no part of the text:
  /// that may be the value of a variable.
  std::string why;

  parsed(T v) : value(std::move(v)) {}
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }

  static parsed fail(std::string reason) {
    parsed result;
    result.why = std::move(reason);
    return result;
  }

 private:
  parsed() = default;
};

}  // namespace idem::config
