#include "proxy/fault.hpp"

#include <array>

namespace idem::proxy {

namespace {

using idempotency::problem_code;
using telemetry::decision;

constexpr std::array<fault_row, 16> table = {{
    {"", false, true, problem_code::upstream_failed, decision::passed},
    {"upstream/resolve", true, true, problem_code::upstream_unavailable, decision::upstream_unavailable},
    {"upstream/connect", true, true, problem_code::upstream_unavailable, decision::upstream_unavailable},
    {"upstream/connect-timeout", true, true, problem_code::upstream_unavailable, decision::upstream_unavailable},
    {"upstream/tls", true, true, problem_code::upstream_unavailable, decision::upstream_unavailable},
    {"upstream/write", true, false, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/no-answer", true, false, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/cut", true, false, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/malformed", true, false, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/timeout", true, false, problem_code::upstream_timeout, decision::upstream_timeout},
    {"upstream/stalled", true, false, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/max-processing", true, false, problem_code::upstream_timeout, decision::upstream_timeout},
    {"proxy/drained", false, false, problem_code::upstream_failed, decision::upstream_failed},
    {"client/gone", false, false, problem_code::upstream_failed, decision::client_gone},
    {"client/malformed", false, false, problem_code::malformed_request, decision::malformed},
    {"client/timeout", false, false, problem_code::request_timeout, decision::timed_out},
}};

}  // namespace

const fault_row& row(fault f) { return table[static_cast<std::size_t>(f)]; }

}  // namespace idem::proxy
