// Signatures of callbacks, verified before the claim, so that nobody but the sender can use up an event's key
// (docs/routes.md, "Verifying the sender").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "idem/config/config.hpp"
#include "idem/http/head.hpp"

namespace idem::idempotency {

/// Why the request is not signed as its scheme asks for: a literal for the sender's log; nothing if it is.
/// @param settings enabled
/// @param body as it came, decoded from its transfer coding only
/// @param unix_seconds the wall clock, for schemes that sign a time
std::optional<std::string_view> signature_fault(const config::signature_config& settings,
                                                const http::request_head& head, std::string_view body,
                                                std::int64_t unix_seconds);

/// The header fields that a scheme is verified by; none of `none`.
std::span<const std::string_view> signature_fields(config::signature_scheme scheme);

}  // namespace idem::idempotency
