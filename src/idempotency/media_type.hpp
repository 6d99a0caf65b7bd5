// What a Content-Type says about how to read a body (RFC 9110 §8.3.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace idem::idempotency {

enum class body_syntax : std::uint8_t { other, json, form, multipart };

/// application/json and +json, application/x-www-form-urlencoded, multipart/*; `other` for everything else.
body_syntax syntax_of(std::string_view content_type);

struct bounded_type {
  std::string boundary;  ///< without its quotes
  std::string rest;      ///< the value without that parameter; else as it was, but for white space around parameters
};

/// Whether the type is multipart/…
bool is_multipart(std::string_view content_type);

/// A Content-Type by its `boundary` parameter. Nothing where two readers could find two boundaries, or none: it is
/// missing, given twice, empty or longer than 70 characters (RFC 2046 §5.1.1), it has a backslash or comes in pieces
/// (RFC 2231), or any value begins or ends its quotes elsewhere than at its own ends (RFC 9110 §5.6.6).
std::optional<bounded_type> split_boundary(std::string_view content_type);

}  // namespace idem::idempotency
