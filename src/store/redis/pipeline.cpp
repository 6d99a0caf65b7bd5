#include "store/redis/pipeline.hpp"

#include <algorithm>

namespace idem::store::redis {

namespace {
constexpr std::size_t usual_capacity = 64, largest_kept = 1024;
}  // namespace

void pipeline::submit(const command& c, completion done, time_point deadline) {
  entry e{c, std::move(done), deadline, {}, {}};
  if (how_) e.how.emplace(c, *how_, key_prefix_);
  // what waits although the connection is open are transactions, which all others may pass
  if (how_ && !(e.how->serial() && serial_busy_)) {
    serial_busy_ = serial_busy_ || e.how->serial();
    send(std::move(e));
  } else {
    push(waiting_, std::move(e));
  }
}

void pipeline::push(queue& q, entry&& e) {
  if (q.full()) q.set_capacity(std::max(usual_capacity, 2 * q.capacity()));
  q.push_back(std::move(e));
}

void pipeline::open(dialect how) {
  how_ = how;
  send_waiting();
}

// Everything that may go now, in order; a transaction waits while another one holds the connection's watches.
void pipeline::send_waiting() {
  for (std::size_t i = 0; i < waiting_.size();) {
    auto& e = waiting_[i];
    if (!e.how) e.how.emplace(e.c, *how_, key_prefix_);
    if (e.how->serial() && serial_busy_) {
      ++i;
      continue;
    }
    serial_busy_ = serial_busy_ || e.how->serial();
    send(std::move(e));
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void pipeline::send(entry&& e) {
  e.begins_at = encoded_ + output_.size();
  e.how->begin(output_);
  push(in_flight_, std::move(e));
}

void pipeline::take_output(std::string& into) {
  encoded_ += output_.size();
  into.swap(output_);
}

bool pipeline::on_reply(resp_value&& v, std::optional<finished>& out) {
  out.reset();
  if (in_flight_.empty()) return false;
  auto& front = in_flight_.front();
  auto s = front.how->on_reply(std::move(v), output_);
  if (s.what == step::kind::more) return true;
  entry e = std::move(front);
  in_flight_.pop_front();
  if (in_flight_.empty() && in_flight_.capacity() > largest_kept) in_flight_.set_capacity(usual_capacity);
  if (s.what == step::kind::again) {
    push(in_flight_, std::move(e));
    return true;
  }
  if (e.how->serial()) {
    serial_busy_ = false;
    send_waiting();
  }
  out = finished{std::move(e.done), std::move(s.result), s.fault, s.took_write};
  return true;
}

std::vector<finished> pipeline::expire(time_point now, bool& broken) {
  broken = std::any_of(in_flight_.begin(), in_flight_.end(), [&](const entry& e) { return e.deadline <= now; });
  std::vector<finished> out;
  for (auto& e : waiting_)
    if (e.deadline <= now) out.push_back(unavailable(std::move(e)));
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), [&](const entry& e) { return e.deadline <= now; }),
                 waiting_.end());
  return out;
}

std::vector<finished> pipeline::shut() {
  std::vector<finished> out;
  out.reserve(in_flight_.size() + waiting_.size());
  for (auto& e : in_flight_) out.push_back(unavailable(std::move(e)));
  for (auto& e : waiting_) out.push_back(unavailable(std::move(e)));
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
  return {std::move(e.done), std::move(r), {}, false};
}

std::optional<pipeline::time_point> pipeline::next_deadline() const {
  std::optional<time_point> soonest;
  for (const auto* queue : {&in_flight_, &waiting_})
    for (const auto& e : *queue)
      if (!soonest || e.deadline < *soonest) soonest = e.deadline;
  return soonest;
}

}  // namespace idem::store::redis
