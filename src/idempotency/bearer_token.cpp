#include "idem/idempotency/bearer_token.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "idem/text/base64.hpp"
#include "idem/text/field_syntax.hpp"
#include "idempotency/token_claims.hpp"
#include "idempotency/token_signature.hpp"

namespace idem::idempotency {
namespace {

constexpr std::size_t max_token_size = 16 * 1024;

token_check refused(token_fault why) { return {why, {}}; }

/// The three parts of the compact form (RFC 7515 §7.1).
struct token_parts {
  std::string_view signed_text;  ///< header and payload as they are signed, with the dot
  std::string header, payload, signature;
};

std::optional<token_parts> split(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t second = first == token.npos ? token.npos : token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) return std::nullopt;
  const auto part = [](std::string_view text) { return text::decode_base64(text, text::base64_alphabet::url); };
  auto header = part(token.substr(0, first)), payload = part(token.substr(first + 1, second - first - 1)),
       signature = part(token.substr(second + 1));
  if (!header || !payload || !signature) return std::nullopt;
  return token_parts{token.substr(0, second), std::move(*header), std::move(*payload), std::move(*signature)};
}

std::optional<std::string_view> string_member(const token_object& object, std::string_view name) {
  const auto* m = object.find(name);
  if (!m || m->type != token_object::kind::string) return std::nullopt;
  return m->text;
}

/// Whether a key of the set made the signature. Each key has one algorithm: what the token claims to be signed with
/// chooses among keys, never how a key is used.
token_fault check_signature(const config::jwt_keys& keys, const token_object& header, const token_parts& parts) {
  const auto algorithm = algorithm_of(string_member(header, "alg").value_or(""));
  if (!algorithm) return token_fault::algorithm;
  const auto id = string_member(header, "kid");
  token_fault fault = token_fault::algorithm;
  for (const config::verification_key& key : keys.keys) {
    if (key.algorithm != *algorithm) continue;
    fault = token_fault::signature;
    if (id && !key.id.empty() && key.id != *id) continue;
    if (signature_matches(key, parts.signed_text, parts.signature)) return token_fault::none;
  }
  return fault;
}

/// NumericDate (RFC 7519 §2): seconds, possibly with a fraction.
std::optional<double> date_of(const token_object::member& m) {
  if (m.type != token_object::kind::number) return std::nullopt;
  const double value = std::strtod(m.text.c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

token_fault check_dates(const token_object& claims, double now, double leeway) {
  if (const auto* exp = claims.find("exp")) {
    const auto date = date_of(*exp);
    if (!date) return token_fault::malformed;
    if (now >= *date + leeway) return token_fault::expired;
  }
  if (const auto* nbf = claims.find("nbf")) {
    const auto date = date_of(*nbf);
    if (!date) return token_fault::malformed;
    if (now < *date - leeway) return token_fault::not_yet_valid;
  }
  return token_fault::none;
}

token_fault check_names(const token_object& claims, const config::jwt_config& settings) {
  if (!settings.issuer.empty() && string_member(claims, "iss") != settings.issuer) return token_fault::issuer;
  if (settings.audience.empty()) return token_fault::none;
  const auto* aud = claims.find("aud");
  if (!aud) return token_fault::audience;
  const bool named = (aud->type == token_object::kind::string && aud->text == settings.audience) ||
                     (aud->type == token_object::kind::other &&
                      std::find(aud->items.begin(), aud->items.end(), settings.audience) != aud->items.end());
  return named ? token_fault::none : token_fault::audience;
}

}  // namespace

std::string_view name_of(token_fault f) {
  switch (f) {
    case token_fault::none: return "";
    case token_fault::absent: return "token/absent";
    case token_fault::malformed: return "token/malformed";
    case token_fault::algorithm: return "token/algorithm";
    case token_fault::signature: return "token/signature";
    case token_fault::expired: return "token/expired";
    case token_fault::not_yet_valid: return "token/not-yet-valid";
    case token_fault::issuer: return "token/issuer";
    case token_fault::audience: return "token/audience";
  }
  return "";
}

std::optional<std::string_view> verified_token::claim(std::string_view name) const {
  const auto found = std::find_if(scalars.begin(), scalars.end(), [&](const auto& s) { return s.first == name; });
  if (found == scalars.end()) return std::nullopt;
  return found->second;
}

token_check check_token(const config::jwt_config& settings, std::string_view token, std::int64_t unix_seconds) {
  if (!settings.keys || token.size() > max_token_size) return refused(token_fault::malformed);
  const auto parts = split(token);
  if (!parts) return refused(token_fault::malformed);
  const auto header = parse_token_object(parts->header);
  // RFC 7515 §4.1.11: what must be understood is not
  if (!header || header->find("crit")) return refused(token_fault::malformed);
  if (const auto f = check_signature(*settings.keys, *header, *parts); f != token_fault::none) return refused(f);
  const auto claims = parse_token_object(parts->payload);
  if (!claims) return refused(token_fault::malformed);
  const double leeway = std::chrono::duration<double>(settings.leeway).count();
  if (const auto f = check_dates(*claims, static_cast<double>(unix_seconds), leeway); f != token_fault::none) {
    return refused(f);
  }
  if (const auto f = check_names(*claims, settings); f != token_fault::none) return refused(f);
  token_check good{token_fault::none, {}};
  for (const auto& m : claims->members) {
    const bool scalar = m.type != token_object::kind::other && !m.text.empty();
    const bool null = m.type == token_object::kind::literal && m.text == "null";
    if (scalar && !null) good.token.scalars.emplace_back(m.name, m.text);
  }
  return good;
}

token_check check_bearer_token(const config::jwt_config& settings, const http::request_head& head,
                               std::int64_t unix_seconds) {
  constexpr std::string_view scheme = "Bearer ";
  if (head.count(http::field_id::authorization) != 1) return refused(token_fault::absent);
  std::string_view value = head.value(http::field_id::authorization);
  if (value.size() <= scheme.size() || !text::istarts_with(value, scheme)) return refused(token_fault::absent);
  return check_token(settings, text::trim_ows(value.substr(scheme.size())), unix_seconds);
}

}  // namespace idem::idempotency
