#include "proxy/decisions.hpp"

namespace idem::proxy {

using idempotency::problem_code;
using telemetry::decision;

decision decision_of(problem_code code) {
  switch (code) {
    case problem_code::missing_key: return decision::missing_key;
    case problem_code::malformed_key: return decision::malformed_key;
    case problem_code::missing_scope: return decision::missing_scope;
    case problem_code::request_too_large: return decision::too_large;
    case problem_code::malformed_request: return decision::malformed;
    case problem_code::head_too_large: return decision::malformed;
    case problem_code::request_timeout: return decision::timed_out;
    case problem_code::key_reused: return decision::mismatch;
    case problem_code::fingerprint_unknown: return decision::fingerprint_unknown;
    case problem_code::in_progress: return decision::in_progress;
    case problem_code::outcome_unknown: return decision::outcome_unknown;
    case problem_code::answer_not_kept: return decision::answer_not_kept;
    case problem_code::busy: return decision::busy;
    case problem_code::store_unavailable: return decision::store_unavailable;
    case problem_code::upstream_unavailable: return decision::upstream_unavailable;
    case problem_code::upstream_failed: return decision::upstream_failed;
    case problem_code::upstream_timeout: return decision::upstream_timeout;
    case problem_code::bad_signature: return decision::bad_signature;
  }
  return decision::passed;
}

decision observed_decision_of(problem_code code) {
  if (code == problem_code::key_reused) return decision::observed_mismatch;
  if (code == problem_code::in_progress) return decision::observed_in_progress;
  return decision::observed_other;
}

}  // namespace idem::proxy
