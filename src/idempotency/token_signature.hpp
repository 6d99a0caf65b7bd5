// The signature of a JWS, over OpenSSL.
#pragma once

#include <optional>
#include <string_view>

#include "idem/config/verification_keys.hpp"

namespace idem::idempotency {

/// RS256, ES256, EdDSA and HS256 by their names in the header (RFC 7518 §3.1, RFC 8037 §3.1); nothing for others.
std::optional<config::jwt_algorithm> algorithm_of(std::string_view name);

/// @param signature as it stands in the token, decoded: ES256 is r and s, 32 bytes each (RFC 7518 §3.4)
bool signature_matches(const config::verification_key& key, std::string_view signed_text, std::string_view signature);

}  // namespace idem::idempotency
