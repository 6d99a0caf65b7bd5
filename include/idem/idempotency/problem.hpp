// The errors that the proxy itself answers: one table of code, status, title and flags, and the problem+json body
// (RFC 9457; docs/protocol.md, "Errors").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace idem::idempotency {

enum class problem_code : std::uint8_t {
  missing_key,
  malformed_key,
  missing_scope,
  request_too_large,
  malformed_request,
  head_too_large,
  request_timeout,
  key_reused,
  fingerprint_unknown,
  in_progress,
  outcome_unknown,
  answer_not_kept,
  busy,
  store_unavailable,
  upstream_unavailable,
  upstream_failed,
  upstream_timeout,
  bad_signature
};
inline constexpr std::size_t problem_code_count = 18;

/// One row of the table. `status` is the default; some codes are answered with another one by configuration or cause.
struct problem_row {
  std::string_view code;  ///< e.g. "key-reused": Idempotency-Status, `code`, and the end of `type`
  unsigned status;
  std::string_view title;
  std::string_view detail;
  bool retryable;     ///< same key, same request, later
  bool safe_new_key;  ///< a new key cannot execute twice
};
const problem_row& row(problem_code code);

/// One answer to be. Starts from the table's row; what the situation decides is changed before it is written.
struct problem {
  explicit problem(problem_code c)
      : code(c),
        status(row(c).status),
        detail(row(c).detail),
        retryable(row(c).retryable),
        safe_new_key(row(c).safe_new_key) {}

  problem_code code;
  unsigned status;
  std::string detail;  ///< never holds anything that the client sent
  bool retryable;
  bool safe_new_key;
  std::optional<unsigned> retry_after;     ///< seconds
  std::optional<std::int64_t> first_seen;  ///< unix milliseconds; member `first_seen` (RFC 3339)
  std::optional<unsigned> attempt;         ///< member `attempt`
  bool close = false;                      ///< the connection ends after this answer
};

/// There is no place for one more call (max_in_flight).
/// @param seen an attempt before this one may have executed
problem busy_problem(bool seen);

/// The reason phrase of a status of ours (RFC 9110 §15); "Unknown" for others.
std::string_view reason_phrase(unsigned status);

/// application/problem+json body.
std::string problem_body(const problem& p);

/// The whole response: status line, Content-Type, Cache-Control: no-store, Idempotency-Status, Retry-After,
/// Content-Length, Connection: close if asked for (or `keep_alive_10`: Connection: keep-alive), `lines`, each of which
/// has its end, and the body unless `head_only`. Returns the bytes of the body that was appended.
std::size_t append_problem_response(std::string& out, const problem& p, bool keep_alive_10 = false,
                                    bool head_only = false, std::string_view lines = {});

}  // namespace idem::idempotency
