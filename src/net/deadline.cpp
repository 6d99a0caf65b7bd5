#include "idem/net/deadline.hpp"

#include <algorithm>

#include "idem/net/coarse_clock.hpp"

namespace idem::net {

using namespace std::chrono;

// A tick is added, so that it is late rather than early.
void deadline::after(milliseconds t) { at(coarse_now() + coarse_resolution() + t); }

void deadline::at(clock::time_point t) {
  at_ = t;
  armed_ = true;
  // Further away than the slot it stands in: the slot will find out. Nearer: it must move.
  if (link_ && slot_at_ <= at_) return;
  unlink();
  wheel_.insert(*this);
}

void deadline::unlink() {
  if (!link_) return;
  *link_ = next_;
  if (next_) next_->link_ = link_;
  next_ = nullptr;
  link_ = nullptr;
  --wheel_.linked_;
}

deadline_wheel::deadline_wheel(asio::io_context& io) : timer_(io), start_(deadline::clock::now()) {}

deadline_wheel::~deadline_wheel() {
  for (auto*& head : wheel_) {
    while (head) head->unlink();
  }
}

void deadline_wheel::stop() {
  stopped_ = true;
  timer_.cancel();
}

void deadline_wheel::insert(deadline& d) {
  if (!running_) done_ = duration_cast<milliseconds>(deadline::clock::now() - start_) / tick;
  // round up: late rather than early; and never into a slot that was looked at already
  auto due = duration_cast<milliseconds>(d.at_ - start_) / tick + 1;
  due = std::max<std::int64_t>(due, done_ + 1);
  due = std::min<std::int64_t>(due, done_ + static_cast<std::int64_t>(slots) - 1);
  d.slot_at_ = start_ + tick * due;
  auto*& head = wheel_[static_cast<std::size_t>(due) % slots];
  d.next_ = head;
  if (head) head->link_ = &d.next_;
  d.link_ = &head;
  head = &d;
  ++linked_;
  if (!running_ && !stopped_) run();
}

void deadline_wheel::run() {
  running_ = true;
  timer_.expires_at(start_ + tick * (done_ + 1));
  timer_.async_wait([this](const error_code& ec) {
    if (ec == asio::error::operation_aborted && stopped_) return;
    on_tick();
  });
}

void deadline_wheel::on_tick() {
  const auto now = deadline::clock::now();
  const auto reached = duration_cast<milliseconds>(now - start_) / tick;
  // after a pause of the whole process one round visits every slot
  if (reached - done_ > static_cast<std::int64_t>(slots)) done_ = reached - static_cast<std::int64_t>(slots);
  while (done_ < reached) {
    ++done_;
    // Taken out as a list of its own: what actions insert goes into later slots.
    deadline* list = wheel_[static_cast<std::size_t>(done_) % slots];
    wheel_[static_cast<std::size_t>(done_) % slots] = nullptr;
    if (list) list->link_ = &list;
    while (list) {
      deadline& d = *list;
      d.unlink();
      if (!d.armed_) continue;
      if (d.at_ > now) {
        insert(d);
        continue;
      }
      d.armed_ = false;
      d.action_();  // may destroy d
    }
  }
  running_ = false;
  if (linked_ > 0 && !stopped_) run();
}

}  // namespace idem::net
