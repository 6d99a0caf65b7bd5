// multipart bodies (RFC 2046 §5.1, RFC 7578) as far as two of them must be compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idem::idempotency {

struct multipart_part {
  std::vector<std::pair<std::string, std::string_view>> headers;  ///< names in lower case, values trimmed
  std::string_view content;
};

/// Views into the body.
struct multipart_body {
  std::string_view preamble;
  std::vector<multipart_part> parts;
  std::string_view epilogue;
};

/// Strict, since two readers must not see two bodies: CRLF line ends, no folded headers, an empty line in every part,
/// the closing delimiter present, and no line that begins like a delimiter but is none. Nothing otherwise.
std::optional<multipart_body> parse_multipart(std::string_view body, std::string_view boundary);

}  // namespace idem::idempotency
