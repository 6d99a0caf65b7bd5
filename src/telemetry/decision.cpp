#include "idem/telemetry/metrics.hpp"

namespace idem::telemetry {

std::string_view name_of(decision d) {
  switch (d) {
    case decision::executed: return "executed";
    case decision::released: return "released";
    case decision::declared: return "declared";
    case decision::taken_over: return "taken_over";
    case decision::not_stored: return "not_stored";
    case decision::replayed: return "replayed";
    case decision::waited: return "waited";
    case decision::in_progress: return "in_progress";
    case decision::mismatch: return "mismatch";
    case decision::fingerprint_unknown: return "fingerprint_unknown";
    case decision::outcome_unknown: return "outcome_unknown";
    case decision::answer_not_kept: return "answer_not_kept";
    case decision::missing_key: return "missing_key";
    case decision::malformed_key: return "malformed_key";
    case decision::missing_scope: return "missing_scope";
    case decision::too_large: return "too_large";
    case decision::busy: return "busy";
    case decision::store_unavailable: return "store_unavailable";
    case decision::bypassed: return "bypassed";
    case decision::upstream_unavailable: return "upstream_unavailable";
    case decision::upstream_failed: return "upstream_failed";
    case decision::upstream_timeout: return "upstream_timeout";
    case decision::passed: return "passed";
    case decision::malformed: return "malformed";
    case decision::timed_out: return "timed_out";
    case decision::client_gone: return "client_gone";
    case decision::observed_execute: return "observed_execute";
    case decision::observed_replay: return "observed_replay";
    case decision::observed_in_progress: return "observed_in_progress";
    case decision::observed_mismatch: return "observed_mismatch";
    case decision::observed_other: return "observed_other";
    case decision::bad_signature: return "bad_signature";
  }
  return "unknown";
}

static_assert(static_cast<std::size_t>(decision::bad_signature) + 1 == decision_count);

}  // namespace idem::telemetry
