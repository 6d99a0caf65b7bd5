// The store of records: one interface, the same contract for every kind (docs/protocol.md, "Transitions").
//
// Each transition is one atomic step on one record and one round trip; docs/protocol.md says where it cannot be. A
// store compares bytes and TTLs; it never reads meaning into a record beyond the 42-byte prefix. The engine decides,
// the store does.
//
// Threads: one `session` for each io_context, used only by that thread; completions are called on it, possibly before
// submit() returns (memory). Sessions of one `backend` share its records. Nothing here throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "idem/config/config.hpp"
#include "idem/idempotency/transition.hpp"
#include "idem/net/callback.hpp"
#include "idem/net/types.hpp"

namespace idem::store {

using std::chrono::milliseconds;

// What a store is told and what it says; see idem/idempotency/transition.hpp.
using idempotency::command;
using idempotency::op;
using idempotency::reply;
using idempotency::verdict;

using completion = net::callback<void(reply)>;

/// How a session sees the store right now; for readiness, metrics and the grace rule.
struct health {
  bool reachable = false;
  bool writable = false;  ///< as far as the last command has shown
  /// When leases last could not be renewed: a connection was lost or could not be made, a command went unanswered, the
  /// server served nothing or refused all writes; and when that ended, since TTLs ran meanwhile. From then on, for one
  /// lease, nothing is taken over and a lapsed P is answered as in progress (docs/protocol.md, "grace"). It is that of
  /// all sessions of the store: what happened to one happened to owners that others know of.
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

  /// A session of the thread that runs `io`, which must outlive it. The store itself may go first.
  virtual std::unique_ptr<session> open(net::asio::io_context& io) = 0;

  /// Subscribes to changes of records that were written with `notify`. One listener for a process; it runs on `io`.
  virtual void subscribe(net::asio::io_context& io, change_listener listener) = 0;

  /// Name for logs and metrics: "memory", "redis".
  virtual std::string_view kind() const = 0;
};

/// Makes the store that the configuration asks for. Never fails: an unreachable store is found out by use.
std::unique_ptr<backend> make_backend(const config::store_config& settings);

}  // namespace idem::store
