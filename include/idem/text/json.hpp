// Strings and numbers of JSON as this program writes them (RFC 8259 §6, §7).
#pragma once

#include <string>
#include <string_view>

namespace idem::text {

/// Appends `utf8` as a string with its quotes, in the one spelling that fingerprints go by: only what must be is
/// escaped, control bytes all as \u00xx. The result is as valid as the UTF-8 that came in.
void append_json_string(std::string& out, std::string_view utf8);

/// The same for text that may be anything, so that the result is valid whatever came in: what is no UTF-8 becomes
/// U+FFFD, one for each maximal part of a broken sequence. For people to read: \n, \r and \t by these names, and DEL is
/// escaped.
void append_json_string_of_bytes(std::string& out, std::string_view bytes);

/// Appends the shortest number that reads back as `value`; null for what JSON has no number for.
void append_json_number(std::string& out, double value);

}  // namespace idem::text
