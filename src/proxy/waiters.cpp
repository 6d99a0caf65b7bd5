#include "proxy/waiters.hpp"

#include <algorithm>

namespace idem::proxy {

using namespace std::chrono_literals;

bool waiter_counts::enter(const std::string& name, std::size_t max_for_key) {
  const std::lock_guard lock(lock_);
  if (all_ >= max_in_process) return false;
  auto& n = by_name_[name];
  if (n >= max_for_key) {
    if (n == 0) by_name_.erase(name);
    return false;
  }
  ++n;
  ++all_;
  return true;
}

void waiter_counts::leave(const std::string& name) {
  const std::lock_guard lock(lock_);
  auto it = by_name_.find(name);
  if (it == by_name_.end()) return;
  --all_;
  if (--it->second == 0) by_name_.erase(it);
}

net::task<waiters::woken> waiters::wait(const std::string& name, net::deadline::clock::time_point until,
                                        net::stream& client) {
  constexpr auto look_at_client = 250ms;
  constexpr auto poll = 1s;
  place p{name, {}, woken::changed};
  if (w_.draining()) co_return woken::drained;
  places_.push_back(&p);
  const auto started = net::deadline::clock::now();
  net::deadline tick(w_.wheel);
  tick.action([&] {
    const auto now = net::deadline::clock::now();
    if (client.reset_by_peer()) {
      p.why = woken::client_gone;
    } else if (now >= until) {
      p.why = woken::deadline;
    } else if (now - started < poll) {
      tick.at(std::min(until, now + look_at_client));
      return;
    }
    p.wake.set();
  });
  tick.at(std::min(until, started + look_at_client));
  w_.metrics.waiters.fetch_add(1, std::memory_order_relaxed);
  if (!p.wake.is_set()) co_await p.wake.wait();
  w_.metrics.waiters.fetch_sub(1, std::memory_order_relaxed);
  std::erase(places_, &p);
  co_return p.why;
}

void waiters::notify(std::string_view name) {
  // Waking runs the waiter at once, which changes places_: collect first.
  std::vector<place*> woken_now;
  for (auto* p : places_) {
    if (name.empty() || p->name == name) woken_now.push_back(p);
  }
  for (auto* p : woken_now) {
    // an earlier one may have ended this one's wait
    if (std::find(places_.begin(), places_.end(), p) != places_.end() && !p->wake.is_set()) p->wake.set();
  }
}

void waiters::drain() {
  for (auto* p : places_) p->why = woken::drained;
  notify({});
}

}  // namespace idem::proxy
