// The header fields that a route itself reads of a request, and what Connection may not do to them
// (docs/http-behaviour.md, "Framing").
#pragma once

#include "idem/config/config.hpp"
#include "idem/http/head.hpp"

namespace idem::idempotency {

/// Whether Connection names a header that the route's key, scope or signature is read from. Without it on the way to
/// the backend, the proxy would have judged another request than the backend gets.
bool connection_names_own_field(const config::idempotency_config& route, const http::request_head& head);

}  // namespace idem::idempotency
