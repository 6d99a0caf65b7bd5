// What went wrong in an exchange: whose fault, at which stage, and whether anything may have been executed. Status, log
// field and metric label come from one table, so that they cannot disagree.
#pragma once

#include <cstdint>
#include <string_view>

#include "idem/idempotency/problem.hpp"
#include "idem/telemetry/metrics.hpp"

namespace idem::proxy {

enum class fault : std::uint8_t {
  none,
  upstream_resolve,       ///< the backend's name has no address
  upstream_connect,       ///< refused or unreachable
  upstream_connect_late,  ///< connect_timeout
  upstream_tls,           ///< handshake or verification failed
  upstream_no_answer,     ///< closed or reset before a byte of the answer
  upstream_cut,           ///< closed or reset within the answer
  upstream_malformed,     ///< not HTTP, or framing that cannot be trusted
  upstream_late,          ///< response_timeout
  upstream_stalled,       ///< idle_timeout within the answer
  processing_limit,       ///< max_processing
  drained,                ///< cut by the end of the drain
  client_gone,            ///< the client closed or reset its connection
  client_malformed,       ///< bad framing within the request body
  client_late             ///< body_idle within the request body
};

struct fault_row {
  std::string_view label;            ///< log field and metric label: side/stage
  bool upstream_side;                ///< whose fault
  idempotency::problem_code answer;  ///< what a client that has no answer yet is told
  telemetry::decision decision;
};

const fault_row& row(fault f);

/// Why a body that was begun well is refused, in the words of the log.
inline constexpr std::string_view broken_framing = "the body breaks its framing";

}  // namespace idem::proxy
