// Reading bodies that a later version will write compressed.
#pragma once

#include <string>
#include <string_view>

namespace idem::idempotency {

inline constexpr std::size_t max_unpacked_body = 64 * 1024 * 1024;  ///< bytes

/// Unpacks whole zstd frames and nothing else. False if the bytes are no such thing, end early, or unpack to more than
/// `max_unpacked_body`.
bool unpack_zstd(std::string_view packed, std::string& out);

}  // namespace idem::idempotency
