// The part of RFC 8941 that a key field needs: strings, and parameters that are checked and thrown away.
#pragma once

#include <string>
#include <string_view>

namespace idem::idempotency::structured_field {

enum class string_result : unsigned char { ok, unterminated, bad_escape, bad_byte };

/// Reads an sf-string (RFC 8941 §3.3.3, §4.2.5) off the front of `text`, which begins with a double quote, and appends
/// the unescaped characters to `out`.
string_result take_string(std::string_view& text, std::string& out);

/// Reads parameters (§3.1.2, §4.2.3.2) off the front of `text`; false if one of them does not parse. Stops before what
/// is not a semicolon.
bool skip_parameters(std::string_view& text);

}  // namespace idem::idempotency::structured_field
