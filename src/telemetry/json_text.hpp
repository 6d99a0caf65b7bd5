// JSON text that stays valid whatever bytes come in.
#pragma once

#include <string>
#include <string_view>

namespace idem::telemetry {

/// Appends `text` as a JSON string with its quotes (RFC 8259 section 7). Control bytes are escaped; what is not valid
/// UTF-8 becomes U+FFFD, one for each maximal part of a broken sequence.
void append_json_string(std::string& out, std::string_view text);

/// Appends the shortest number that reads back as `value`; null for what JSON has no number for.
void append_json_number(std::string& out, double value);

}  // namespace idem::telemetry
