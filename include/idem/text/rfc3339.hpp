// Times as logs and answers show them (RFC 3339).
#pragma once

#include <cstdint>
#include <string>

namespace idem::text {

/// Appends a time in UTC with milliseconds, e.g. `2026-03-01T09:05:07.040Z`. RFC 3339 knows the years 0000 to 9999
/// only; what lies outside of them is shown as their first or last moment.
/// @param unix_ms milliseconds since 1970
void append_rfc3339(std::string& out, std::int64_t unix_ms);

}  // namespace idem::text
