// Keys that tokens are verified with, parsed once when a configuration is loaded.
//
// Immutable and shared by threads: verifying with an EVP_PKEY changes nothing in it. Never logged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct evp_pkey_st;  // EVP_PKEY of OpenSSL, so that its headers stay out of everything that reads a configuration

namespace idem::config {

/// JWS algorithms (RFC 7518 §3, RFC 8037). `none` is none of them.
enum class jwt_algorithm : std::uint8_t { rs256, es256, eddsa, hs256 };

struct verification_key {
  jwt_algorithm algorithm = jwt_algorithm::rs256;  ///< the only one that this key verifies
  std::string id;                                  ///< `kid`, or empty
  std::shared_ptr<evp_pkey_st> key;                ///< null with hs256
  std::string secret;                              ///< with hs256
};

struct jwt_keys {
  std::vector<verification_key> keys;  ///< at least one
};

}  // namespace idem::config
