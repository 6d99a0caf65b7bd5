#include "store/redis/pipeline.hpp"

#include <algorithm>

#include "store/redis/scripts.hpp"

namespace idem::store::redis {

namespace {
constexpr std::size_t usual_capacity = 64, largest_kept = 1024;
}  // namespace

void pipeline::submit(const command& c, completion done, time_point deadline) {
  entry e{c, std::move(done), deadline, {}, {}};
  if (how_) {
    place(std::move(e));
  } else {
    push(waiting_, std::move(e));
  }
}

// An entry on an open connection: sent, gathered, or kept waiting.
void pipeline::place(entry&& e) {
  e.how.emplace(e.c, writes_refused_ && *how_ == dialect::scripts_and_set_get ? dialect::scripts : *how_, key_prefix_);
  if (e.how->serial()) {
    push(waiting_, std::move(e));
    return send_waiting();
  }
  if (*how_ != dialect::transactions && gathers_ && may_be_grouped(e.c)) {
    gathered_.push_back(std::move(e));
    if (gathered_.size() == group_limit) send_gathered();
    return;
  }
  // commands on one record take effect in their order
  if (std::any_of(gathered_.begin(), gathered_.end(), [&](const entry& g) { return g.c.name == e.c.name; }))
    send_gathered();
  send(std::move(e));
}

void pipeline::push(queue& q, entry&& e) {
  if (q.full()) q.set_capacity(std::max(usual_capacity, 2 * q.capacity()));
  q.push_back(std::move(e));
}

void pipeline::open(dialect how) {
  how_ = how;
  queue early;
  early.swap(waiting_);
  for (auto& e : early) place(std::move(e));
}

// A transaction waits while another one holds the connection's watches.
void pipeline::send_waiting() {
  while (!serial_busy_ && !waiting_.empty()) {
    serial_busy_ = true;
    send(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void pipeline::send_gathered() {
  if (gathered_.size() == 1) {
    send(std::move(gathered_.front()));
  } else if (!gathered_.empty()) {
    send_group(gathered_, false);
  }
  gathered_.clear();
}

void pipeline::send_group(group& g, bool whole_text) {
  group_members members;
  for (const entry& e : g) members.push_back(&e.c);
  const std::uint64_t begins_at = encoded_ + output_.size();
  append_group(output_, members, whole_text);
  g.front().group = static_cast<std::uint8_t>(g.size());
  g.front().whole_text = whole_text;
  for (entry& e : g) {
    e.begins_at = begins_at;
    push(in_flight_, std::move(e));
  }
}

void pipeline::send(entry&& e) {
  e.begins_at = encoded_ + output_.size();
  e.how->begin(output_);
  push(in_flight_, std::move(e));
}

void pipeline::take_output(std::string& into) {
  send_gathered();
  encoded_ += output_.size();
  into.swap(output_);
}

pipeline::entry pipeline::take_front() {
  entry e = std::move(in_flight_.front());
  in_flight_.pop_front();
  if (in_flight_.empty() && in_flight_.capacity() > largest_kept) in_flight_.set_capacity(usual_capacity);
  return e;
}

bool pipeline::on_reply(resp_value&& v, finished_commands& out) {
  out.clear();
  if (in_flight_.empty()) return false;
  auto& front = in_flight_.front();
  if (front.group > 0) {
    on_group_reply(std::move(v), out);
    return true;
  }
  auto s = front.how->on_reply(std::move(v), output_);
  if (s.what == step::kind::more) return true;
  entry e = take_front();
  if (s.what == step::kind::again) {
    push(in_flight_, std::move(e));
    return true;
  }
  if (e.how->serial()) {
    serial_busy_ = false;
    send_waiting();
  }
  if (s.took_write || (s.fault && refuses_writes(*s.fault))) writes_refused_ = !s.took_write;
  out.push_back({std::move(e.done), std::move(s.result), s.fault, s.took_write});
  return true;
}

void pipeline::on_group_reply(resp_value&& v, finished_commands& out) {
  group g;
  const std::size_t size = in_flight_.front().group;
  const bool whole_text = in_flight_.front().whole_text;
  while (g.size() < size) g.push_back(take_front());
  g.front().group = 0;
  const group_reply r = read_group_reply(v, size);
  if (r.what == group_reply::kind::unknown_script && !whole_text) return send_group(g, true);
  if (r.what == group_reply::kind::not_together) {
    gathers_ = false;
    for (entry& e : g) send(std::move(e));
    return;
  }
  for (std::size_t i = 0; i < size; ++i) {
    step s = r.what == group_reply::kind::decided ? member_end(g[i], r.replies[i])
                                                  : step::failed(r.fault, !surely_not_executed(r.fault));
    out.push_back({std::move(g[i].done), std::move(s.result), s.fault, s.took_write});
  }
}

step pipeline::member_end(entry& e, resp_value* own_reply) {
  resp_value done{resp_type::integer, {}, code_done, {}};
  step s = e.how->on_reply(std::move(own_reply ? *own_reply : done), output_);
  // a script is never asked for inside of another one
  return s.what == step::kind::finished ? std::move(s) : step::failed(server_error::unknown, true);
}

std::vector<finished> pipeline::expire(time_point now, bool& broken) {
  broken = std::any_of(in_flight_.begin(), in_flight_.end(), [&](const entry& e) { return e.deadline <= now; });
  std::vector<finished> out;
  const auto end = [&](auto& unsent) {
    const auto late = [&](const entry& e) { return e.deadline <= now; };
    for (auto& e : unsent)
      if (late(e)) out.push_back(unavailable(std::move(e)));
    unsent.erase(std::remove_if(unsent.begin(), unsent.end(), late), unsent.end());
  };
  end(waiting_);
  end(gathered_);
  return out;
}

std::vector<finished> pipeline::shut() {
  std::vector<finished> out;
  out.reserve(in_flight_.size() + waiting_.size() + gathered_.size());
  for (auto& e : in_flight_) out.push_back(unavailable(std::move(e)));
  for (auto& e : waiting_) out.push_back(unavailable(std::move(e)));
  for (auto& e : gathered_) out.push_back(unavailable(std::move(e)));
  gathered_.clear();
  gathers_ = true;
  writes_refused_ = false;
  in_flight_ = queue();
  waiting_ = queue();
  output_.clear();
  encoded_ = 0;
  serial_busy_ = false;
  how_.reset();
  return out;
}

finished pipeline::unavailable(entry&& e) const {
  reply r;
  r.sent = e.begins_at && *e.begins_at < encoded_;
  r.read = e.how && e.how->has_read();
  return {std::move(e.done), std::move(r), {}, false};
}

std::optional<pipeline::time_point> pipeline::next_deadline() const {
  std::optional<time_point> soonest;
  const auto look_at = [&](const auto& entries) {
    for (const entry& e : entries)
      if (!soonest || e.deadline < *soonest) soonest = e.deadline;
  };
  look_at(in_flight_);
  look_at(waiting_);
  look_at(gathered_);
  return soonest;
}

}  // namespace idem::store::redis
