// The syntax of a client's key (the Idempotency-Key draft §2.1, RFC 8941 §3.3.3; docs/protocol.md, "Errors").
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace idem::idempotency {

struct key_syntax {
  std::size_t max_length = 255;  ///< bytes of the key itself, escapes undone
  bool strict = false;           ///< only RFC 8941 strings
  bool uuid = false;             ///< 8-4-4-4-12 hex digits, any case
};

struct parsed_key {
  bool ok = false;
  std::string value;     ///< the key, escapes undone (a uuid in lower case)
  std::string_view why;  ///< a literal, when not ok
};

/// Takes the value of a key field. Quoted (an RFC 8941 string with any parameters) or, unless strict, bare; `"abc"` and
/// `abc` are one key. Refused: empty, over the length, control or non-ASCII bytes, an unterminated quote, a bad escape,
/// anything but parameters after the string, and in a bare key a space, a comma, a semicolon or a double quote.
/// @param lines all field lines of that name; two are refused
parsed_key parse_key(std::span<const std::string_view> lines, const key_syntax& syntax);

}  // namespace idem::idempotency
