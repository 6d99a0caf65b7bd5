// Counters of what was decided, latencies, and gauges; Prometheus text (format 0.0.4).
//
// Each worker thread counts into a block of its own (relaxed atomics, no sharing on a request's way); a scrape adds the
// blocks up. Blocks live as long as the registry, so pointers to them stay valid over reloads. Labels are route names
// and fixed words: never a key, a path or anything else that a client chose.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace idem::telemetry {

/// What became of one request. The label `decision` of idempotency_proxy_requests_total.
enum class decision : std::uint8_t {
  executed,    ///< first execution, its answer stored
  released,    ///< executed, answer says "not executed": key free again
  declared,    ///< executed, outcome unknown
  taken_over,  ///< executed as a later attempt
  not_stored,  ///< executed, answer could not be stored in time
  replayed,
  waited,  ///< replayed after waiting
  in_progress,
  mismatch,  ///< key-reused
  fingerprint_unknown,
  outcome_unknown,
  answer_not_kept,
  missing_key,
  malformed_key,
  missing_scope,
  too_large,
  busy,
  store_unavailable,
  bypassed,  ///< on_store_error: allow
  upstream_unavailable,
  upstream_failed,
  upstream_timeout,
  passed,            ///< no key on an idempotent route, an upgrade, or no route at all
  malformed,         ///< refused by the message gate, or a limit
  timed_out,         ///< request-timeout
  client_gone,       ///< the client went away before its request was whole
  observed_execute,  ///< mode observe: what enforce would have done
  observed_replay,
  observed_in_progress,
  observed_mismatch,
  observed_other,
  bad_signature  ///< a callback that its sender did not sign
};
inline constexpr std::size_t decision_count = 32;
/// As the label has it: the name of the enumerator.
std::string_view name_of(decision d);

/// Latencies in seconds, fixed buckets from 0.5 ms to 60 s.
class histogram {
 public:
  static constexpr std::array<double, 16> bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                    0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
  void observe(std::chrono::nanoseconds t);

  std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts{};  ///< not cumulative
  std::atomic<std::uint64_t> sum_ns{0};
};

struct route_block {
  std::array<std::atomic<std::uint64_t>, decision_count> decisions{};
  histogram upstream;  ///< of claimed calls: from the first byte sent to the whole answer

  void count(decision d) { decisions[static_cast<std::size_t>(d)].fetch_add(1, std::memory_order_relaxed); }
};

/// Gauges and counters of one worker that have no route.
struct worker_block {
  std::atomic<std::int64_t> connections{0}, in_flight{0}, waiters{0}, backlog{0}, upstream_idle{0};
  std::atomic<std::uint64_t> accepted{0}, accept_pauses{0}, upstream_connects{0}, upstream_reuses{0};
  std::atomic<std::uint64_t> store_errors{0}, renewals{0}, recreated{0}, lost_completions{0};
  std::atomic<std::int64_t> store_up{0};
  histogram store_claim, store_complete, store_other;
};

/// Thread-safe.
class registry {
 public:
  explicit registry(unsigned workers);
  ~registry();
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;

  /// The block of a route ("" = no route) for one worker; made when it is asked for first. Takes a lock, so not for a
  /// request's way: ask when a configuration is taken up.
  route_block& route(unsigned worker, std::string_view name);
  worker_block& worker(unsigned index);

  void reload(bool ok);  ///< counts a reload; sets the gauge of the last one's success
  void draining(bool on);
  bool draining() const;

  /// The whole exposition, ending with a line feed.
  std::string text() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace idem::telemetry
