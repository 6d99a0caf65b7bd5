// What is still owed to the store when an exchange is over: answers that it did not take in time, releases of tokens
// that may still land, and what is only observed. Bounded; what does not fit lapses into an unknown outcome, which is
// safe, or is not begun.
#pragma once

#include <cstddef>
#include <list>
#include <memory>

#include "proxy/claim.hpp"
#include "proxy/worker.hpp"

namespace idem::proxy {

class aftermath {
 public:
  explicit aftermath(worker& w) : w_(w) {}
  aftermath(const aftermath&) = delete;
  aftermath& operator=(const aftermath&) = delete;

  /// Repeats the claim's last settling command until the store takes it. The lease is renewed meanwhile. An answer that
  /// is large and does not get through to a store that is there is recorded as X (docs/protocol.md, "Lost replies").
  /// @param bytes what the record holds, for the bound
  void keep_settling(std::shared_ptr<claim> c, std::size_t bytes);

  /// Takes over every token that the claim gave up, and repeats its release until the store has answered one that was
  /// sent when a lease had passed since the token's last command that had no reply.
  void release_abandoned(std::shared_ptr<claim> c);

  /// Runs what may go on behind an exchange that it does not hold up.
  void see_through(net::task<void> work);
  /// So much is owed or under way that nothing should be begun which is only observed: the store does not keep up, and
  /// the room is for what was executed.
  bool crowded() const { return pending() >= max_jobs / 10; }

  /// The process ends (shared_state::stopping): what rests until its next try makes it now, and a release is not
  /// repeated after that.
  void hurry();

  /// What is still owed or under way; a drain waits for it.
  std::size_t pending() const { return jobs_.size(); }

 private:
  static constexpr std::size_t max_jobs = 10'000;
  static constexpr std::size_t max_bytes = 64 * 1024 * 1024;

  /// One thing that is owed or under way, from its beginning to its end, whatever that is.
  class job;
  net::task<void> settle(std::shared_ptr<claim> c, std::size_t bytes);
  net::task<void> release(std::shared_ptr<claim> c, idempotency::engine::abandoned token);
  net::task<void> as_job(net::task<void> work);

  worker& w_;
  std::list<job*, memory::block_allocator<job*>> jobs_;
  std::size_t bytes_ = 0;
};

}  // namespace idem::proxy
