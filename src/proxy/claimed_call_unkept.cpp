// Answers that cannot be kept, streams and large ones: recorded as X, and sent at their client's pace.
#include <algorithm>

#include "proxy/claimed_call.hpp"

namespace idem::proxy {

using idempotency::next;

namespace {
/// What may wait for a slow client.
constexpr std::size_t window = 64 * 1024;
}  // namespace

net::task<void> claimed_call::hold_to_client_pace() {
  if (sender_.pending() > window) co_await sender_.drained();
  limit_unattended();
}

/// An answer that nobody reads, and that is not kept, ends with max_processing.
void claimed_call::limit_unattended() {
  if (!without_body_ || !sender_.gone() || processing_limit_.armed()) return;
  processing_limit_.after(std::max(route_.max_processing - elapsed(), std::chrono::milliseconds(1)));
}

next claimed_call::complete_without_body() {
  return claim_->engine.complete(idempotency::record_state::without_body, {status_, block_, {}});
}

/// X: done, and never executed again, but the answer cannot be replayed.
net::task<void> claimed_call::store_without_body() {
  capture_ = false;
  without_body_ = true;
  // Without anybody who reads it, an endless answer ends with the limit; with a reader it may go on.
  if (!sender_.gone() && !client_done_) processing_limit_.clear();
  if (bypass_) co_return;
  co_await claim_->drive(complete_without_body());
  if (take_x_result()) co_return;
  // The answer may go on for hours, and a process that dies meanwhile must not leave a P that somebody takes over.
  // Until the store has it the lease goes on.
  x_tries_.start(c_.w.io.get_executor(), keep_trying_x(), [] {});
}

/// False: the store has not taken it.
bool claimed_call::take_x_result() {
  const auto result = claim_->engine.settlement_result();
  if (result == idempotency::settled_as::not_stored) return false;
  claim_->stop_renewing();
  if (result == idempotency::settled_as::recreated) c_.w.metrics.recreated.fetch_add(1, std::memory_order_relaxed);
  superseded_ = claim_->engine.lost_its_key();
  x_stored_ = !superseded_;
  return true;
}

net::task<void> claimed_call::keep_trying_x() {
  constexpr std::chrono::milliseconds shortest(100), longest(1000);
  for (auto wait = shortest; !x_tries_over_; wait = std::min(wait * 2, longest)) {
    co_await x_rest_.wait(wait);
    if (x_tries_over_) co_return;
    co_await claim_->drive(claim_->engine.settle_again());
    if (take_x_result()) break;
  }
  if (!superseded_) co_return;
  up_.close();
  if (streaming_) sender_.abort();
}

void claimed_call::end_x_tries() {
  x_tries_over_ = true;
  x_rest_.wake();
}

}  // namespace idem::proxy
