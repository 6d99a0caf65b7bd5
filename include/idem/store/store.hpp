// The store of records: one interface, the same contract for every kind (docs/protocol.md, "Transitions").
//
// Each transition is one atomic step on one record and one round trip. A store compares bytes and TTLs; it never reads
// meaning into a record beyond the 42-byte prefix. The engine decides, the store does.
//
// Threads: one `session` for each io_context, used only by that thread; completions are called on it, possibly before
// submit() returns (memory). Sessions of one `backend` share its records. Nothing here throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "idem/config/config.hpp"
#include "idem/net/callback.hpp"
#include "idem/net/types.hpp"

namespace idem::store {

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
  resolve,    ///< prefix equals `expect` (a U) → `value` with `ttl`; with an empty value → gone, only if TTL ≤ `hold` − `lease`
};

/// A command. Views must stay valid until the completion was called.
struct command {
  op what = op::look;
  std::string_view name;    ///< record name with prefix and braces
  std::string_view value;   ///< encoded record to write
  std::string_view expect;  ///< `own` commands: the 37 bytes of owner.text(); take_over, revoke, resolve: the 42-byte prefix seen
  milliseconds ttl{};
  milliseconds hold{};
  milliseconds lease{};
  bool declare_x = false;
  bool notify = false;      ///< wake waiters of this record afterwards (routes with in_flight: wait)
};

enum class verdict : std::uint8_t {
  found,        ///< claim, look: `value` stands there. For claim that includes the own one that was just written
  absent,       ///< claim: nothing stands there (it expired between the steps); look: nothing
  done,         ///< the transition happened
  recreated,    ///< renew, complete, declare: nothing stood there; it was written again. The record had been lost
  already,      ///< complete: own final record stands there already, in `value`
  lost,         ///< the comparison failed: `value` is what stands there (empty if nothing), with its TTL where it is known
  refused,      ///< the store answers, but takes no writes (OOM, MISCONF, NOREPLICAS); nothing was written
  unavailable   ///< no usable reply. See `sent`
};

struct reply {
  static constexpr std::int64_t no_record = -2;
  static constexpr std::int64_t no_expiry = -1;

  verdict what = verdict::unavailable;
  std::string value;
  std::int64_t ttl = no_record;  ///< milliseconds left; no_record; no_expiry
  bool sent = false;             ///< unavailable: bytes of the command may have reached the store: it can still take effect
  bool write_refused = false;    ///< claim: the record was read, but a write was refused (replays go on)
};

using completion = net::callback<void(reply)>;

/// How a session sees the store right now; for readiness, metrics and the grace rule.
struct health {
  bool reachable = false;
  bool writable = false;
  /// When the connection was last lost, or a command last went unanswered for a third of a second-class lease; from
  /// then on, for one lease, nothing is taken over and a lapsed P is answered as in progress (docs/protocol.md, "grace").
  net::lease_clock::time_point last_trouble{};
  bool ever_troubled = false;
};

class session {
 public:
  virtual ~session() = default;

  /// Runs a command; calls `done` exactly once, within the store's command timeout, also when the session is closed.
  virtual void submit(const command& c, completion done) = 0;

  virtual health status() const = 0;

  /// Ends connections; what is unanswered completes as unavailable. Called on the session's thread.
  virtual void close() = 0;
};

/// Called with a record name when its record changed; on any thread. An empty name means: the subscription was
/// (re)confirmed, everything may have changed.
using change_listener = std::function<void(std::string_view name)>;

class backend {
 public:
  virtual ~backend() = default;

  /// Checks what must hold before serving. Empty = fine, or not reachable yet (that is not fatal); else why this store
  /// must not be used (for example: it may evict records), a sentence for the user.
  virtual std::string verify() = 0;

  virtual std::unique_ptr<session> open(net::asio::io_context& io) = 0;

  /// Subscribes to changes of records that were written with `notify`. One listener for a process; it runs on `io`.
  virtual void subscribe(net::asio::io_context& io, change_listener listener) = 0;

  /// Name for logs and metrics: "memory", "redis".
  virtual std::string_view kind() const = 0;
};

/// Makes the store that the configuration asks for. Never fails: an unreachable store is found out by use.
std::unique_ptr<backend> make_backend(const config::store_config& settings);

}  // namespace idem::store
