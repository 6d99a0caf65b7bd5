// Who asks: the parts of a request that keep one caller's keys apart from another's.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "idem/idempotency/identity.hpp"

namespace idem::idempotency {

/// All of it stands in the head. A source that the request lacks is a part without a value.
name_parts scope_parts(const std::vector<config::source>& scope, const request_view& request);

/// Why this scope cannot tell this caller from others or from its own next try (docs/protocol.md, "Errors",
/// `missing-scope`): a literal, or nothing if it can.
std::optional<std::string_view> scope_refusal(const std::vector<config::source>& scope, const request_view& request);

/// The value of a template's name, with or without its braces.
std::optional<std::string_view> captured(const request_view& request, std::string_view name);

}  // namespace idem::idempotency
