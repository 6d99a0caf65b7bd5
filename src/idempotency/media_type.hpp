// What a Content-Type says about how to read a body (RFC 9110 §8.3.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace idem::idempotency {

enum class body_syntax : std::uint8_t { other, json, form, multipart_form };

/// application/json and +json, application/x-www-form-urlencoded, multipart/form-data; `other` for everything else.
body_syntax syntax_of(std::string_view content_type);

/// Whether the type is multipart/…
bool is_multipart(std::string_view content_type);

/// The `boundary` parameter, unquoted. Nothing if it is missing, given twice, empty or longer than 70 characters (RFC
/// 2046 §5.1.1).
std::optional<std::string> boundary_of(std::string_view content_type);

/// The value with every `boundary` parameter taken out; what else stands in it is kept as it is, but for the white
/// space around parameters.
std::string without_boundary(std::string_view content_type);

}  // namespace idem::idempotency
