// The transitions of a record, as commands to a store and its replies (docs/protocol.md, "Transitions").
//
// The engine makes commands and reads replies; a store carries them out. Plain data, no I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace idem::idempotency {

using std::chrono::milliseconds;

enum class op : std::uint8_t {
  claim,      ///< absent → `value` with `ttl`; the reply says what stands there (own value included)
  look,       ///< what stands there, with its TTL, read in one step
  renew,      ///< own P → ttl; absent → `value` with `ttl`; anything else stays
  complete,   ///< own P, U or R, or absent → `value` with `ttl`; own S, F, X stays (already); another's stays (lost)
  release,    ///< own P → gone if attempt is 1, else → `value` (a U) with `ttl`; anything else stays
  declare,    ///< own P or R, own X if `declare_x`, or absent → `value` (a U) with `ttl`; anything else stays
  take_over,  ///< prefix equals `expect` and TTL ≤ `hold` → `value` with `ttl`
  revoke,     ///< prefix equals `expect` (a P) → the same record with state R and `ttl`
  resolve,    ///< prefix equals `expect` (a U) → `value` with `ttl`; with an empty value → gone, only if TTL ≤ `hold` −
              ///< `lease`
};

/// A command. Views must stay valid until the completion was called.
struct command {
  op what = op::look;
  std::string_view name;   ///< record name with prefix and braces
  std::string_view value;  ///< encoded record to write
  /// `own` commands: the 37 bytes of owner.text(); take_over, revoke, resolve: the 42-byte prefix that was seen.
  std::string_view expect;
  milliseconds ttl{};
  milliseconds hold{};
  milliseconds lease{};
  bool declare_x = false;
  bool notify = false;  ///< wake waiters of this record afterwards (routes with in_flight: wait)
  /// Nobody is going to look at what stands there instead: `value` of the reply stays empty, so that an answer of
  /// megabytes is not carried for its verdict. Not for claim and look.
  bool blind = false;
};

enum class verdict : std::uint8_t {
  found,      ///< claim, look: `value` stands there. For claim that includes the own one that was just written
  absent,     ///< claim: nothing stands there (it expired between the steps); look: nothing
  done,       ///< the transition happened
  recreated,  ///< renew, complete, declare: nothing stood there; it was written again. The record had been lost
  already,    ///< complete: own final record stands there already, in `value` (see command::blind)
  /// The comparison failed: `value` is what stands there (empty if nothing, or to a blind command), with its TTL where
  /// it is known.
  lost,
  refused,     ///< the store answers, but takes no writes (OOM, MISCONF, NOREPLICAS); nothing was written
  unavailable  ///< no usable reply, see `sent`
};

struct reply {
  static constexpr std::int64_t no_record = -2;
  static constexpr std::int64_t no_expiry = -1;
  static constexpr std::int64_t not_asked = -3;

  verdict what = verdict::unavailable;
  std::string value;
  std::int64_t ttl = no_record;  ///< milliseconds left; no_record; no_expiry; of a claim also not_asked
  /// unavailable: bytes of the command may have reached the store, and it can still take effect.
  bool sent = false;
  bool write_refused = false;  ///< claim: the record was read, but a write was refused (replays go on)
  bool read = false;           ///< unavailable: a claim had seen another's record by then
};

}  // namespace idem::idempotency
