// One command to the store of a worker, and its reply. What the store did not do counts as an error of it.
#pragma once

#include "idem/net/event.hpp"
#include "idem/store/store.hpp"
#include "proxy/worker.hpp"

namespace idem::proxy {

/// Whether the store did not do what it was asked for: it is away, or refuses.
inline bool failed(const store::reply& r) {
  return r.what == store::verdict::unavailable || r.what == store::verdict::refused;
}

inline void count_failure(worker& w, const store::reply& r) {
  if (failed(r)) w.metrics.store_errors.fetch_add(1, std::memory_order_relaxed);
}

/// Submits when it is made. It, and the texts that the command refers to, must stay until `done`; ask is_set() before
/// waiting, since a store in memory answers at once.
class store_call {
 public:
  store_call(worker& w, const store::command& c) {
    w.store->submit(c, [this, &w](store::reply r) {
      count_failure(w, r);
      reply = std::move(r);
      done.set();
    });
  }
  store_call(const store_call&) = delete;
  store_call& operator=(const store_call&) = delete;

  net::event done;
  store::reply reply;
};

}  // namespace idem::proxy
