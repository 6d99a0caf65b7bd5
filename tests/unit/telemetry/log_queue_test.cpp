#include "telemetry/log_queue.hpp"

#include <gtest/gtest.h>

namespace idem::telemetry {
namespace {

using namespace std::chrono_literals;

access_entry access_line(unsigned number) {
  access_entry e;
  e.status = number;
  return e;
}

/// Collects what a queue writes; can be told to hold the queue's thread up.
class recorder {
 public:
  log_queue::writer writer() {
    return [this](const std::vector<log_entry>& entries, std::uint64_t lost) {
      std::unique_lock lock(mutex_);
      ++calls_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !held_; });
      dropped_ += lost;
      for (const auto& e : entries) written_.push_back(e);
    };
  }
  void hold(bool on) {
    std::lock_guard lock(mutex_);
    held_ = on;
    changed_.notify_all();
  }
  bool wait_for_call() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [this] { return calls_ > 0; });
  }
  std::vector<log_entry> written() {
    std::lock_guard lock(mutex_);
    return written_;
  }
  std::uint64_t dropped() {
    std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<log_entry> written_;
  std::uint64_t dropped_ = 0;
  int calls_ = 0;
  bool held_ = false;
};

TEST(log_queue, entries_are_written_in_their_order) {
  recorder r;
  log_queue q(r.writer());
  q.start();
  for (unsigned i = 0; i < 3000; ++i) {
    if (i % 3 == 0) {
      EXPECT_TRUE(q.push(event_entry(config::log_level::info, std::to_string(i), {})));
    } else {
      EXPECT_TRUE(q.push(access_line(i)));
    }
  }
  EXPECT_TRUE(q.stop(10s));
  const auto written = r.written();
  ASSERT_EQ(written.size(), 3000u);
  for (unsigned i = 0; i < 3000; ++i) {
    if (i % 3 == 0) {
      EXPECT_EQ(std::get<event_entry>(written[i]).event, std::to_string(i));
    } else {
      EXPECT_EQ(std::get<access_entry>(written[i]).status, i);
    }
  }
}

TEST(log_queue, a_line_is_written_soon_without_another_one_coming) {
  recorder r;
  log_queue q(r.writer());
  q.start();
  q.push(access_line(1));
  EXPECT_TRUE(r.wait_for_call());
  EXPECT_TRUE(q.stop(10s));
}

TEST(log_queue, access_lines_are_dropped_and_counted_when_the_output_is_stuck_while_events_still_pass) {
  recorder r;
  log_queue q(r.writer());
  r.hold(true);
  q.start();
  q.push(access_line(0));
  ASSERT_TRUE(r.wait_for_call());  // the writer is inside now, and stays there
  const auto dropped_before = dropped_log_lines();
  for (unsigned i = 0; i < log_queue::access_room + 500; ++i) EXPECT_TRUE(q.push(access_line(i)));
  q.push(event_entry(config::log_level::error, "still here", {}));
  EXPECT_EQ(dropped_log_lines() - dropped_before, 500u);
  r.hold(false);
  EXPECT_TRUE(q.stop(10s));
  const auto written = r.written();
  ASSERT_EQ(written.size(), 1 + log_queue::access_room + 1);
  EXPECT_EQ(std::get<event_entry>(written.back()).event, "still here");
  EXPECT_EQ(r.dropped(), 500u);
}

TEST(log_queue, events_are_bounded_too) {
  recorder r;
  log_queue q(r.writer());
  r.hold(true);
  q.start();
  q.push(access_line(0));
  ASSERT_TRUE(r.wait_for_call());
  for (unsigned i = 0; i < log_queue::event_room + 3; ++i) q.push(event_entry(config::log_level::error, "e", {}));
  r.hold(false);
  EXPECT_TRUE(q.stop(10s));
  EXPECT_EQ(r.written().size(), 1 + log_queue::event_room);
  EXPECT_EQ(r.dropped(), 3u);
}

TEST(log_queue, stopping_gives_up_on_an_output_that_takes_nothing) {
  // both outlive the test: the thread that was given up still refers to them
  auto& r = *new recorder;
  auto& q = *new log_queue(r.writer());
  r.hold(true);
  q.start();
  q.push(access_line(0));
  ASSERT_TRUE(r.wait_for_call());
  EXPECT_FALSE(q.stop(20ms));
  EXPECT_FALSE(q.push(access_line(1)));
  r.hold(false);
  static auto* const keep_r = &r;
  static auto* const keep_q = &q;
  (void)keep_r, (void)keep_q;
}

TEST(log_queue, it_can_be_stopped_twice_and_started_again) {
  recorder r;
  log_queue q(r.writer());
  EXPECT_TRUE(q.stop(1s));
  q.start();
  q.start();
  q.push(access_line(1));
  EXPECT_TRUE(q.stop(10s));
  EXPECT_TRUE(q.stop(10s));
  q.start();
  q.push(access_line(2));
  EXPECT_TRUE(q.stop(10s));
  EXPECT_EQ(r.written().size(), 2u);
}

TEST(log_queue, nothing_is_lost_when_threads_push_at_once) {
  recorder r;
  log_queue q(r.writer());
  q.start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&q] {
      for (unsigned i = 0; i < 2000; ++i) q.push(access_line(i));
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_TRUE(q.stop(10s));
  EXPECT_EQ(r.written().size() + r.dropped(), 8000u);
  EXPECT_EQ(r.dropped(), 0u);
}

}  // namespace
}  // namespace idem::telemetry
