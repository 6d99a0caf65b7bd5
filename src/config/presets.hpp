// Senders of callbacks whose ways are known (docs/routes.md, "Callbacks").
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "idem/config/config.hpp"

namespace idem::config {

/// What a sender does, and what of a block of `idempotency` is its own.
struct preset {
  std::string_view name;
  std::chrono::milliseconds tries;  ///< from its first try of an event to its last; 0 = it does not try again by itself
  std::chrono::milliseconds waits;  ///< for an answer; 0 = not known
  std::chrono::milliseconds wait;   ///< `in_flight.wait`: a duplicate gets its answer while the sender still waits
  signature_scheme scheme;          ///< that it signs with, where this program can verify it
  std::string_view from;            ///< YAML: `key.from`
  std::string_view success;         ///< YAML: the keys of `answer.success`
};

std::span<const preset> presets();

/// The whole block that fits a sender, as YAML: it is read as if it stood in a file in the place of `preset: NAME`.
std::string block_of(const preset& p);

}  // namespace idem::config
