#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "idem/config/config.hpp"
#include "idempotency/multipart.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {

/// A body of parts, and its Content-Type without the boundary.
struct body_of_parts {
  std::string type;
  multipart_body body;
};

/// The body as parts, where the settings or its type say so and it parses.
std::optional<body_of_parts> read_parts(const config::fingerprint_config& settings, std::string_view content_type,
                                        std::string_view body);

/// The body's share of a fingerprint: what it was read as, then its canonical form. A body that does not parse as what
/// it should be is taken as raw bytes. `parts` is what read_parts() gave for the same arguments.
void put_body(sha256& hash, const config::fingerprint_config& settings, std::string_view content_type,
              std::string_view body, const std::optional<body_of_parts>& parts);

}  // namespace idem::idempotency
