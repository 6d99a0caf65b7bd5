#include "telemetry/log_queue.hpp"

#include <pthread.h>
#include <signal.h>

namespace idem::telemetry {
namespace {

std::atomic<std::uint64_t> all_dropped{0};

}  // namespace

std::uint64_t dropped_log_lines() { return all_dropped.load(std::memory_order_relaxed); }

void log_queue::start() {
  std::lock_guard lock(mutex_);
  if (running_) return;
  running_ = true;
  stopping_ = finished_ = false;
  // The thread must not take a signal that others wait for, nor die of SIGPIPE when the log's reader is gone.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool log_queue::stop(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!running_) return true;
  running_ = false;
  stopping_ = true;
  came_.notify_one();
  const bool ended = ended_.wait_for(lock, limit, [this] { return finished_; });
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
  return ended;
}

bool log_queue::push(log_entry&& e) {
  std::unique_lock lock(mutex_);
  if (!running_) return false;
  const std::size_t room = std::holds_alternative<access_entry>(e) ? access_room : event_room;
  if (entries_.size() >= room) {
    ++dropped_;
    all_dropped.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  entries_.push_back(std::move(e));
  const auto size = entries_.size();
  lock.unlock();
  if (size == 1 || size == wake_early) came_.notify_one();
  return true;
}

void log_queue::run() {
  std::vector<log_entry> taken;
  std::unique_lock lock(mutex_);
  for (;;) {
    came_.wait(lock, [this] { return stopping_ || !entries_.empty(); });
    came_.wait_for(lock, gather, [this] { return stopping_ || entries_.size() >= wake_early; });
    taken.swap(entries_);
    const auto dropped = std::exchange(dropped_, 0);
    const bool last = stopping_;
    lock.unlock();
    if (!taken.empty() || dropped > 0) write_(taken, dropped);
    taken.clear();
    lock.lock();
    if (last) break;
  }
  finished_ = true;
  ended_.notify_all();
}

}  // namespace idem::telemetry
