#include <algorithm>

#include "config/rules.hpp"
#include "config/units.hpp"
#include "config/words.hpp"

namespace idem::config {
namespace {

/// A record that ends before the sender does would let its last tries execute again.
void check_ladder(const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  if (c.preset.empty()) return;
  const auto covers = [&](milliseconds value, const std::optional<place>& given, std::string_view key) {
    if (value >= c.sender_tries || refused(out, r, key, given)) return;
    out.error(r.where(given, "idempotency." + std::string(key)),
              show_duration(value) + " is less than the time for which " + c.preset + " goes on trying (" +
                  show_duration(c.sender_tries) + "), expected at least that");
  };
  covers(c.retention, r.idempotency.retention, "retention");
  if (r.idempotency.hold_given) covers(c.hold, r.idempotency.hold, "hold");
  const bool wait_refused = refused(out, r, "in_flight", r.idempotency.wait);
  const bool waits = c.in_flight.respond == in_flight_respond::wait && !wait_refused;
  if (waits && c.sender_waits > 0ms && c.in_flight.wait >= c.sender_waits) {
    out.warning(r.where(r.idempotency.wait, "idempotency.in_flight.wait"),
                show_duration(c.in_flight.wait) + " is not less than the time that " + c.preset +
                    " waits for an answer (" + show_duration(c.sender_waits) + "): it will have gone before");
  }
}

void check_success(const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  if (!c.success.given()) return;
  if (c.in_flight.respond == in_flight_respond::accepted) {
    out.error(r.where(r.idempotency.respond, "idempotency.in_flight.respond"),
              "a 202 would tell the sender that its event was handled, expected conflict or wait");
  }
  for (const unsigned status : {401u, 403u}) {
    const auto found = c.statuses.codes.find(status);
    if (found == c.statuses.codes.end() || found->second != disposition::final) continue;
    out.error(r.where(std::nullopt, "idempotency.statuses.final"),
              std::to_string(status) + " is never stored on a route with answer.success, expected other statuses");
  }
}

void check_absent(const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  if (c.absent_is_success == absent_policy::off || !r.idempotency.absent_is_success || !r.match_usable) return;
  const auto& methods = r.route.match.methods;
  const place at = *r.idempotency.absent_is_success;
  if (std::find(methods.begin(), methods.end(), "DELETE") == methods.end()) {
    // what `defaults` says is meant for the routes that it fits
    if (at.path.starts_with(r.at.path)) out.warning(at, "has no effect: the route's match.methods are without DELETE");
    return;
  }
  const bool never_repeated = c.guarantee == guarantee::at_most_once && !refused(out, r, "guarantee");
  if (c.absent_is_success == absent_policy::if_repeated && never_repeated) {
    out.warning(at,
                "has no effect with at_most_once, which never repeats a DELETE whose outcome is not known; "
                "expected `guarantee: at_least_once` beside it, or always");
  }
}

void check_signature(const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  if (r.idempotency.foreign_signature) {
    const bool verifiable = c.signature.scheme != signature_scheme::none;
    out.error(*r.idempotency.foreign_signature,
              c.preset + " does not sign what defaults.signature verifies, expected " +
                  (verifiable ? "signature.secret_file beside it, or " : "") +
                  "`signature: {scheme: \"\"}` beside it, which leaves signatures to the application");
  }
  if (!c.signature.secret_file.empty() && c.signature.scheme == signature_scheme::none) {
    out.error(r.where(r.idempotency.signature, "idempotency.signature.scheme"),
              "has no scheme beside it, expected standard_webhooks, stripe, github, shopify or slack");
  }
  if (c.signature.scheme != signature_scheme::none && c.signature.secret_file.empty() &&
      r.idempotency.signature_scheme) {
    out.error(*r.idempotency.signature_scheme,
              "has no secret_file beside it, which is what signatures are verified with");
  }
  if (c.signature.enabled() && c.mode != route_mode::enforce && !refused(out, r, "mode")) {
    out.warning(r.where(r.idempotency.signature, "idempotency.signature"),
                "what is not signed reaches the application, since with `mode: " +
                    std::string(word_of(c.mode, mode_words)) + "` nothing is refused");
  }
}

}  // namespace

void check_callbacks(const route_draft& r, report& out) {
  check_ladder(r, out);
  check_success(r, out);
  check_absent(r, out);
}

void check_verification(const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  const bool has_file = !c.jwt.jwks_file.empty() || !c.jwt.hmac_secret_file.empty();
  if (c.uses_jwt() && !has_file && !refused(out, r, "jwt", r.idempotency.jwt)) {
    out.error(r.where(r.idempotency.jwt, "idempotency.jwt"),
              "is missing, expected jwks_file or hmac_secret_file: a claim counts only in a token that was verified");
  }
  if (!refused(out, r, "signature", r.idempotency.signature)) check_signature(r, out);
}

}  // namespace idem::config
