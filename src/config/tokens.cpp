// The block `jwt`: how tokens are verified whose claims are keys or scopes.
#include "config/draft.hpp"
#include "config/file.hpp"
#include "config/jwks.hpp"

namespace idem::config {
namespace {

constexpr std::size_t most_bytes = 1024 * 1024;
constexpr std::size_t hs256_bytes = 32;  // RFC 7518 §3.2: no shorter than the hash

void load_key_set(const section& jwt, jwt_config& c) {
  const auto text = read_file(jwt.out(), c.jwks_file, most_bytes);
  const auto keys = text ? parse_jwks(*text) : parsed<std::shared_ptr<const jwt_keys>>::fail(text.why);
  if (keys) c.keys = *keys;
  if (!keys) jwt.out().error(jwt.where("jwks_file"), jwt.out().value(c.jwks_file) + " " + keys.why);
}

void load_secret(const section& jwt, jwt_config& c) {
  const place at = jwt.where("hmac_secret_file");
  const auto secret = read_secret(jwt.out(), at, c.hmac_secret_file);
  if (!secret) {
    jwt.out().error(at, jwt.out().value(c.hmac_secret_file) + " " + secret.why);
    return;
  }
  if (secret->size() < hs256_bytes) {
    jwt.out().warning(at, jwt.out().value(c.hmac_secret_file) +
                              " holds less than 32 bytes: whoever guesses them can make any claim (RFC 7518 §3.2)");
  }
  c.keys = hmac_keys(*secret);
}

}  // namespace

void read_jwt(const section& jwt, idempotency_draft& to) {
  jwt_config& c = to.config.jwt;
  const bool set = jwt.string("jwks_file", c.jwks_file, "the path of a JSON Web Key Set");
  const bool secret = jwt.string("hmac_secret_file", c.hmac_secret_file, "the path of a file");
  // a route that names one of them means that one, whatever `defaults` has
  if (set && !secret && !c.jwks_file.empty()) c.hmac_secret_file.clear();
  if (secret && !set && !c.hmac_secret_file.empty()) c.jwks_file.clear();
  jwt.string("issuer", c.issuer, "the issuer of tokens, as in their claim iss");
  jwt.string("audience", c.audience, "the audience of tokens, as in their claim aud");
  jwt.duration("leeway", c.leeway, {0ms, 24h});
  if (!set && !secret) return;
  to.jwt = jwt.at();
  c.keys = nullptr;
  if (!c.jwks_file.empty() && !c.hmac_secret_file.empty()) {
    jwt.out().error(jwt.where("hmac_secret_file"), "stands beside jwks_file, expected one of the two");
  }
  if (!c.jwks_file.empty()) load_key_set(jwt, c);
  if (!c.hmac_secret_file.empty()) load_secret(jwt, c);
}

bool idempotency_config::uses_jwt() const {
  const auto is_claim = [](const source& s) { return s.type == source::kind::jwt; };
  for (const source& s : scope) {
    if (is_claim(s)) return true;
  }
  for (const auto& parts : key.from) {
    for (const source& s : parts) {
      if (is_claim(s)) return true;
    }
  }
  return false;
}

}  // namespace idem::config
