#include "idem/idempotency/webhook_signature.hpp"

#include <algorithm>
#include <string>

#include "idem/text/base64.hpp"
#include "idem/text/decimal.hpp"
#include "idem/text/field_syntax.hpp"
#include "idem/text/hex.hpp"
#include "idempotency/hmac_sha256.hpp"

namespace idem::idempotency {
namespace {

constexpr std::string_view no_signature = "The request carries no signature that can be read; it was not forwarded.";
constexpr std::string_view wrong_signature =
    "The signature was not made with the secret of this endpoint; the request was not forwarded.";
constexpr std::string_view wrong_time =
    "The signature was made too long ago, or for a time to come; the request was not forwarded.";

constexpr std::string_view stripe_fields[] = {"Stripe-Signature"};
constexpr std::string_view standard_webhooks_fields[] = {"webhook-id", "webhook-timestamp", "webhook-signature"};
constexpr std::string_view slack_fields[] = {"X-Slack-Request-Timestamp", "X-Slack-Signature"};
constexpr std::string_view github_fields[] = {"X-Hub-Signature-256"};
constexpr std::string_view shopify_fields[] = {"X-Shopify-Hmac-Sha256"};

/// The value of the only field of that name: two would be two readings.
std::optional<std::string_view> only(const http::request_head& head, std::string_view name) {
  std::optional<std::string_view> value;
  for (const http::field& f : head.fields) {
    if (!http::iequals(f.name, name)) continue;
    if (value || f.value.empty()) return std::nullopt;
    value = f.value;
  }
  return value;
}

std::optional<std::string> hex_bytes(std::string_view text) {
  std::string out(hmac_sha256_size, '\0');
  auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
  if (!text::read_hex(text, bytes, out.size(), text::hex_case::any)) return std::nullopt;
  return out;
}

bool in_time(std::string_view seconds, std::int64_t now, std::chrono::milliseconds tolerance) {
  const auto signed_at = text::parse_decimal<std::int64_t>(seconds);
  if (!signed_at || *signed_at < 0) return false;
  const std::int64_t apart = *signed_at > now ? *signed_at - now : now - *signed_at;
  return apart <= tolerance.count() / 1000;
}

/// `t=…,v1=hex[,v1=hex …]` over `t.body`: several while a secret is being replaced.
std::optional<std::string_view> stripe(const config::signature_config& c, const http::request_head& head,
                                       std::string_view body, std::int64_t now) {
  auto rest = only(head, stripe_fields[0]);
  if (!rest) return no_signature;
  const std::string_view whole = *rest;
  std::string_view time;
  for (std::string_view left = whole; !left.empty();) {
    const std::string_view item = text::take_member(left);
    if (!item.starts_with("t=")) continue;
    if (!time.empty()) return no_signature;
    time = item.substr(2);
  }
  if (time.empty()) return no_signature;
  const std::string wanted = hmac_sha256(c.secret, {time, ".", body});
  bool matches = false;
  for (std::string_view left = whole; !left.empty();) {
    const std::string_view item = text::take_member(left);
    if (!item.starts_with("v1=")) continue;
    const auto bytes = hex_bytes(item.substr(3));
    matches = (bytes && equal_in_constant_time(*bytes, wanted)) || matches;
  }
  if (!matches) return wrong_signature;
  if (!in_time(time, now, c.tolerance)) return wrong_time;
  return std::nullopt;
}

/// `v1,base64[ v1,base64 …]` over `id.timestamp.body`; other versions are passed over.
std::optional<std::string_view> standard_webhooks(const config::signature_config& c, const http::request_head& head,
                                                  std::string_view body, std::int64_t now) {
  const auto& [id_field, time_field, signatures_field] = standard_webhooks_fields;
  const auto id = only(head, id_field), time = only(head, time_field), signatures = only(head, signatures_field);
  if (!id || !time || !signatures) return no_signature;
  const std::string wanted = hmac_sha256(c.secret, {*id, ".", *time, ".", body});
  bool matches = false;
  for (std::string_view left = *signatures; !left.empty();) {
    std::string_view item = text::take_part(left, ' ');
    if (text::take_part(item, ',') != "v1") continue;
    const auto bytes = text::decode_base64(item, text::base64_alphabet::standard);
    matches = (bytes && equal_in_constant_time(*bytes, wanted)) || matches;
  }
  if (!matches) return wrong_signature;
  if (!in_time(*time, now, c.tolerance)) return wrong_time;
  return std::nullopt;
}

std::optional<std::string_view> slack(const config::signature_config& c, const http::request_head& head,
                                      std::string_view body, std::int64_t now) {
  const auto time = only(head, slack_fields[0]), signature = only(head, slack_fields[1]);
  if (!time || !signature || !signature->starts_with("v0=")) return no_signature;
  const auto bytes = hex_bytes(signature->substr(3));
  if (!bytes) return no_signature;
  if (!equal_in_constant_time(*bytes, hmac_sha256(c.secret, {"v0:", *time, ":", body}))) return wrong_signature;
  if (!in_time(*time, now, c.tolerance)) return wrong_time;
  return std::nullopt;
}

std::optional<std::string_view> github(const config::signature_config& c, const http::request_head& head,
                                       std::string_view body) {
  const auto signature = only(head, github_fields[0]);
  if (!signature || !signature->starts_with("sha256=")) return no_signature;
  const auto bytes = hex_bytes(signature->substr(7));
  if (!bytes) return no_signature;
  if (!equal_in_constant_time(*bytes, hmac_sha256(c.secret, {body}))) return wrong_signature;
  return std::nullopt;
}

std::optional<std::string_view> shopify(const config::signature_config& c, const http::request_head& head,
                                        std::string_view body) {
  const auto signature = only(head, shopify_fields[0]);
  const auto bytes = signature ? text::decode_base64(*signature, text::base64_alphabet::standard) : std::nullopt;
  if (!bytes) return no_signature;
  if (!equal_in_constant_time(*bytes, hmac_sha256(c.secret, {body}))) return wrong_signature;
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> signature_fault(const config::signature_config& settings,
                                                const http::request_head& head, std::string_view body,
                                                std::int64_t unix_seconds) {
  switch (settings.scheme) {
    case config::signature_scheme::none: return std::nullopt;
    case config::signature_scheme::standard_webhooks: return standard_webhooks(settings, head, body, unix_seconds);
    case config::signature_scheme::stripe: return stripe(settings, head, body, unix_seconds);
    case config::signature_scheme::github: return github(settings, head, body);
    case config::signature_scheme::shopify: return shopify(settings, head, body);
    case config::signature_scheme::slack: return slack(settings, head, body, unix_seconds);
  }
  return wrong_signature;
}

std::span<const std::string_view> signature_fields(config::signature_scheme scheme) {
  switch (scheme) {
    case config::signature_scheme::none: return {};
    case config::signature_scheme::standard_webhooks: return standard_webhooks_fields;
    case config::signature_scheme::stripe: return stripe_fields;
    case config::signature_scheme::github: return github_fields;
    case config::signature_scheme::shopify: return shopify_fields;
    case config::signature_scheme::slack: return slack_fields;
  }
  return {};
}

}  // namespace idem::idempotency
