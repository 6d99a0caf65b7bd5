// Senders of callbacks whose ways are known (docs/routes.md, "Callbacks").
#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "idem/config/config.hpp"

namespace idem::config {

/// What a sender does, and the block of `idempotency` that fits it. The block is written as in a file, and read as if
/// it stood there in the place of `preset: NAME`.
struct preset {
  std::string_view name;
  std::chrono::milliseconds tries;  ///< from its first try of an event to its last; 0 = it does not try again by itself
  std::chrono::milliseconds waits;  ///< for an answer; 0 = not known
  signature_scheme scheme;          ///< that it signs with, where this program can verify it
  std::string_view block;           ///< YAML: what differs from `preset_base`
};

/// What all senders have in common. Signatures and times differ from try to try, so a request is told by its key alone;
/// a sender repeats what it has no good answer to, and an outcome that is not known is such a case.
inline constexpr std::string_view preset_base = R"(
key: {required: false, max_length: 255, format: any, strict: false}
fingerprint: {body: none, headers: [], query: false, exclude: [], include: []}
guarantee: at_least_once
statuses: {final: [], release: [], unknown: []}
)";

std::span<const preset> presets();

}  // namespace idem::config
