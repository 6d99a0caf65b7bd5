#include "store/memory/table.hpp"

#include <limits>

#include "idem/memory/block_pool.hpp"

namespace idem::store::memory {
namespace {

// Two per operation would keep up with one new record per operation; the rest catches up after a quiet time.
constexpr std::size_t sweep_per_operation = 8;

}  // namespace

reply table::run(const command& c, time_point now) {
  reply r;
  if (try_run(c, now, r)) return r;
  // the bound counts dead records until they are swept: only what lives may refuse a write
  sweep_all(now);
  if (try_run(c, now, r)) return r;
  writable_.store(false, std::memory_order_relaxed);
  r = reply{};
  r.what = verdict::refused;
  r.write_refused = true;
  return r;
}

// False when there is no room for what the transition writes; nothing was changed then.
bool table::try_run(const command& c, time_point now, reply& r) {
  auto& p = parts_[hash{}(c.name) % parts_.size()];
  const std::lock_guard guard(p.lock);
  sweep(p, now, sweep_per_operation);

  auto at = p.records.find(c.name);
  if (at != p.records.end() && at->second.expiry->first <= now) {
    erase(p, at);
    at = p.records.end();
  }
  standing s;
  if (at != p.records.end()) s = {true, at->second.value, (at->second.expiry->first - now).count()};

  const auto t = decide(c, s);
  if (t.what == verdict::found || t.what == verdict::already || t.what == verdict::lost) {
    r.value = idem::memory::take_string();
    if (!c.blind) r.value = c.what == op::claim && !s.present ? c.value : s.value;
    r.ttl = c.what == op::claim && !s.present ? c.ttl.count() : s.ttl;
  }
  r.what = t.what;
  return apply(p, at, c, t.write, now);
}

bool table::apply(part& p, entries::iterator at, const command& c, write_kind write, time_point now) {
  switch (write) {
    case write_kind::none: return true;
    case write_kind::put:
      if (!put(p, at, c, now)) return false;
      writable_.store(true, std::memory_order_relaxed);
      break;
    case write_kind::extend: extend(p, at, now + c.ttl); break;
    case write_kind::mark_revoked:
      at->second.value[state_offset] = 'R';
      extend(p, at, now + c.ttl);
      break;
    case write_kind::erase: erase(p, at); break;
  }
  return true;
}

bool table::put(part& p, entries::iterator at, const command& c, time_point now) {
  if (at == p.records.end()) {
    if (!charge(c.name.size() + c.value.size() + record_overhead)) return false;
    at = p.records.emplace(std::string(c.name), entry{std::string(c.value), {}}).first;
    at->second.expiry = p.expiries.emplace(now + c.ttl, std::string_view(at->first));
    return true;
  }
  const auto before = at->second.value.size();
  if (c.value.size() > before) {
    if (!charge(c.value.size() - before)) return false;
  } else {
    used_.fetch_sub(before - c.value.size(), std::memory_order_relaxed);
  }
  // a string of its own: assign() would keep the capacity of a large value, which the bound does not count
  at->second.value = std::string(c.value);
  extend(p, at, now + c.ttl);
  return true;
}

void table::extend(part& p, entries::iterator at, time_point until) {
  auto node = p.expiries.extract(at->second.expiry);
  node.key() = until;
  at->second.expiry = p.expiries.insert(std::move(node));
}

void table::erase(part& p, entries::iterator at) {
  used_.fetch_sub(at->first.size() + at->second.value.size() + record_overhead, std::memory_order_relaxed);
  p.expiries.erase(at->second.expiry);
  p.records.erase(at);
}

void table::sweep(part& p, time_point now, std::size_t limit) {
  for (; limit > 0 && !p.expiries.empty() && p.expiries.begin()->first <= now; --limit)
    erase(p, p.records.find(p.expiries.begin()->second));
}

void table::sweep_all(time_point now) {
  for (auto& p : parts_) {
    const std::lock_guard guard(p.lock);
    sweep(p, now, std::numeric_limits<std::size_t>::max());
  }
}

bool table::charge(std::size_t bytes) {
  auto used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > max_bytes_ || used > max_bytes_ - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

std::size_t table::size() const {
  std::size_t n = 0;
  for (const auto& p : parts_) {
    const std::lock_guard guard(p.lock);
    n += p.records.size();
  }
  return n;
}

}  // namespace idem::store::memory
