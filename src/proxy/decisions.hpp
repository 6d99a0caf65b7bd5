// From a problem to the decision that metrics and the access log show.
#pragma once

#include "idem/idempotency/problem.hpp"
#include "idem/telemetry/metrics.hpp"

namespace idem::proxy {

telemetry::decision decision_of(idempotency::problem_code code);
/// What an observing route would have done.
telemetry::decision observed_decision_of(idempotency::problem_code code);

}  // namespace idem::proxy
