// What the body of an answer must be for a callback to count as handled.
#pragma once

#include <string_view>

#include "idem/config/config.hpp"

namespace idem::idempotency {

/// A body that does not parse, or has what is asked for in two places, satisfies nothing.
bool satisfies(const config::body_condition& condition, std::string_view body);

}  // namespace idem::idempotency
