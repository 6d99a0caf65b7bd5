// Key files for tokens: JSON Web Key Sets (RFC 7517) and shared secrets.
#pragma once

#include <memory>
#include <string_view>

#include "config/parsed.hpp"
#include "idem/config/verification_keys.hpp"

namespace idem::config {

/// The keys of a set that can verify RS256 (RSA of 2048 bits and more), ES256 (P-256) or EdDSA (Ed25519). Others, those
/// for encryption, and shared secrets are passed over; a set without any that is left is a failure, and so is a key of
/// these types that is broken.
parsed<std::shared_ptr<const jwt_keys>> parse_jwks(std::string_view text);

/// The one key of a shared secret, for HS256.
std::shared_ptr<const jwt_keys> hmac_keys(std::string secret);

}  // namespace idem::config
