// Tokens whose claims are keys or scopes: JWTs (RFC 7519) as bearers (RFC 6750 §2.1), signed (RFC 7515), verified here.
//
// A claim counts only in a token that was verified: a forged one would choose another caller's record. What does not
// verify is no error of the proxy's; the application, which gets such a request untouched, refuses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/http/head.hpp"

namespace idem::idempotency {

enum class token_fault : std::uint8_t {
  none,
  absent,         ///< no Authorization, several, or another scheme
  malformed,      ///< no JWS in compact form, no JSON, a claim that stands twice, an extension that must be understood
  algorithm,      ///< none, or one for which there is no key
  signature,      ///< made with no key of ours
  expired,        ///< exp
  not_yet_valid,  ///< nbf
  issuer,         ///< iss is not the configured one
  audience        ///< aud does not hold the configured one
};
/// A literal for logs, e.g. "token/expired".
std::string_view name_of(token_fault f);

/// The claims of a token that was verified.
class verified_token {
 public:
  /// The text of a string, the digits of a number, `true` or `false`; nothing if the claim is absent, empty, null, an
  /// object or an array. Only members of the token's outermost object are claims.
  std::optional<std::string_view> claim(std::string_view name) const;

  std::vector<std::pair<std::string, std::string>> scalars;  ///< what claim() looks in: name and text
};

struct token_check {
  token_fault fault = token_fault::absent;
  verified_token token;  ///< meaningful without a fault only
};

/// @param unix_seconds the wall clock
token_check check_bearer_token(const config::jwt_config& settings, const http::request_head& head,
                               std::int64_t unix_seconds);

/// The same for the token itself.
token_check check_token(const config::jwt_config& settings, std::string_view token, std::int64_t unix_seconds);

}  // namespace idem::idempotency
