#include <algorithm>

#include "config/rules.hpp"

namespace idem::config {
namespace {

bool has(const std::vector<source>& scope, source::kind kind) {
  return std::any_of(scope.begin(), scope.end(), [&](const source& s) { return s.type == kind; });
}

/// Who has tokens verified has callers whose tokens are refreshed.
void check_refreshed_tokens(const route_draft& r, report& out) {
  const idempotency_config& c = r.idempotency.config;
  const bool verifies_tokens = !c.jwt.jwks_file.empty() || !c.jwt.hmac_secret_file.empty();
  if (refused(out, r, "scope", r.idempotency.scope) || refused(out, r, "mode")) return;
  if (!verifies_tokens || c.mode == route_mode::off || !has(c.scope, source::kind::credential)) return;
  out.warning(r.where(r.idempotency.scope, "idempotency.scope"),
              "with credential a refreshed token is another caller, and a retry that comes with it executes again; as "
              "the block jwt verifies tokens here, expected a claim that stays in its place, e.g. jwt:sub");
}

}  // namespace

void check_scope(const draft& all, const route_draft& r, report& out) {
  const std::vector<source>& scope = r.idempotency.config.scope;
  const bool certificates = !all.config.server.tls.client_ca.empty() || out.refused("server.tls.client_ca");
  if (has(scope, source::kind::mtls) && !certificates) {
    out.error(r.where(r.idempotency.scope, "idempotency.scope"),
              "mtls: needs clients with certificates, expected server.tls.client_ca");
  }
  check_refreshed_tokens(r, out);
  const bool authenticated =
      has(scope, source::kind::credential) || has(scope, source::kind::jwt) || has(scope, source::kind::mtls);
  if (authenticated || r.idempotency.config.mode == route_mode::off) return;
  if (refused(out, r, "scope", r.idempotency.scope) || refused(out, r, "mode") || refused(out, r, "signature")) return;
  // then nobody but the sender gets as far as an answer
  if (r.idempotency.config.signature.enabled()) return;
  const bool constant = !scope.empty() && std::all_of(scope.begin(), scope.end(),
                                                      [](const source& s) { return s.type == source::kind::constant; });
  out.warning(r.where(r.idempotency.scope, "idempotency.scope"),
              constant ? "with const: alone all callers share their keys and get each other's answers"
                       : "has neither credential, jwt nor mtls: whoever has a key gets its answer without the "
                         "application's authorisation");
}

}  // namespace idem::config
