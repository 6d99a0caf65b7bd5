// The two JSON objects of a token, as far as verifying it needs them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idem::idempotency {

/// The outermost members of an object. Strings and numbers are told apart, since exp must be a number and iss a string.
struct token_object {
  enum class kind : unsigned char { string, number, literal, other };
  struct member {
    std::string name;
    kind type = kind::other;
    std::string text;                ///< of a scalar
    std::vector<std::string> items;  ///< strings of an array
  };
  std::vector<member> members;

  const member* find(std::string_view name) const;
};

/// Nothing if the text is no JSON object, or a name stands twice in it (RFC 7519 §4).
std::optional<token_object> parse_token_object(std::string_view text);

}  // namespace idem::idempotency
