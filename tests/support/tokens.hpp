// Tokens for tests: keys made on the spot, the set of their public halves, and tokens signed with them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace idem::test {

std::string base64(std::string_view bytes);                     ///< RFC 4648 §4
std::string base64url(std::string_view bytes);                  ///< §5, without padding
std::string hex(std::string_view bytes);                        ///< lower case
std::string hmac(std::string_view key, std::string_view text);  ///< HMAC-SHA256, raw bytes

/// A private key of RS256, ES256 or EdDSA.
class signing_key {
 public:
  /// @param algorithm by its name in tokens
  explicit signing_key(std::string algorithm, std::string id = {});

  const std::string& algorithm() const { return algorithm_; }
  /// The public half as a member of a JSON Web Key Set.
  std::string jwk() const;
  /// The signature of a JWS over `text`, raw bytes.
  std::string sign(std::string_view text) const;
  /// A whole token. The header names the algorithm and, if there is one, the id.
  std::string token(std::string_view claims) const;

 private:
  std::string algorithm_, id_;
  std::shared_ptr<evp_pkey_st> key_;
};

/// `{"keys": [ … ]}`
std::string jwks(std::initializer_list<const signing_key*> keys);

/// A token signed with a shared secret (HS256).
std::string hs256_token(std::string_view secret, std::string_view claims);
/// Header and claims as given, and this signature.
std::string token_of(std::string_view header, std::string_view claims, std::string_view signature);

/// The wall clock in whole seconds.
std::int64_t unix_now();

}  // namespace idem::test
