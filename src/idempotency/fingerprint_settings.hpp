// The settings that make two fingerprints comparable (docs/protocol.md, "Fingerprint").
#pragma once

#include <string>
#include <vector>

#include "idem/config/config.hpp"

namespace idem::idempotency {

/// The names of the headers that count: lower case, sorted, each once. The order in a configuration makes no
/// difference.
std::vector<std::string> counted_headers(const config::fingerprint_config& settings);

}  // namespace idem::idempotency
