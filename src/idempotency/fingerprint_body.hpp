// What of a body counts in a fingerprint (docs/protocol.md, "Fingerprint").
#pragma once

#include <string_view>

#include "idem/config/config.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {

/// The body's share of a fingerprint: what it was read as, then its canonical form. A body that does not parse as what
/// it should be is taken as raw bytes.
void put_body(sha256& hash, const config::fingerprint_config& settings, std::string_view content_type,
              std::string_view body);

}  // namespace idem::idempotency
