#include "proxy/fault.hpp"

#include <array>

namespace idem::proxy {

namespace {

using idempotency::problem_code;
using telemetry::decision;

constexpr std::array<fault_row, 15> table = {{
    {"", false, problem_code::upstream_failed, decision::passed},
    {"upstream/resolve", true, problem_code::upstream_unavailable, decision::upstream_unavailable},
    {"upstream/connect", true, problem_code::upstream_unavailable, decision::upstream_unavailable},
    {"upstream/connect-timeout", true, problem_code::upstream_unavailable, decision::upstream_unavailable},
    {"upstream/tls", true, problem_code::upstream_unavailable, decision::upstream_unavailable},
    {"upstream/no-answer", true, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/cut", true, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/malformed", true, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/timeout", true, problem_code::upstream_timeout, decision::upstream_timeout},
    {"upstream/stalled", true, problem_code::upstream_failed, decision::upstream_failed},
    {"upstream/max-processing", true, problem_code::upstream_timeout, decision::upstream_timeout},
    {"proxy/drained", false, problem_code::upstream_failed, decision::upstream_failed},
    {"client/gone", false, problem_code::upstream_failed, decision::client_gone},
    {"client/malformed", false, problem_code::malformed_request, decision::malformed},
    {"client/timeout", false, problem_code::request_timeout, decision::timed_out},
}};

}  // namespace

const fault_row& row(fault f) { return table[static_cast<std::size_t>(f)]; }

}  // namespace idem::proxy
