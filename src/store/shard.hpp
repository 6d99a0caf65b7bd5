// The sixteen channels that wake waiters. Subscription and stores must agree on which channel a record uses.
#pragma once

#include <string>
#include <string_view>

#include "idem/text/hex.hpp"

namespace idem::store {

inline constexpr std::string_view shard_digits = text::hex_digits;

/// First four bits of the hash in a record's name, as one lower-case hex digit. The hash is the base64url text after
/// the last opening brace; '0' for a name without one.
char shard_of(std::string_view name);

/// `<key_prefix>w:<shard>` (docs/protocol.md, "Transitions").
std::string wake_channel(std::string_view key_prefix, char shard);

}  // namespace idem::store
