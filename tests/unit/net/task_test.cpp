#include "idem/net/task.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "task_fixture.hpp"

namespace {

using namespace idem::net;
using namespace idem::net::testing;

using a_task = task_test;
using a_spawned_task = task_test;
using a_long_chain = task_test;
using a_frame = task_test;

// ------------------------------------------------------------------------------------------------------------------
// values and exceptions

task<int> gives(int value) { co_return value; }
task<std::unique_ptr<int>> gives_owned(int value) { co_return std::make_unique<int>(value); }

struct bare {
  explicit bare(int v) : value(v) {}
  bare(bare&&) = default;
  bare& operator=(bare&&) = delete;
  std::unique_ptr<int> moves_only;
  int value;
};
task<bare> gives_bare(int value) { co_return bare(value); }

TEST_F(a_task, returns_a_value_to_its_awaiter) {
  int got = 0;
  run([](int& to) -> task<void> { to = co_await gives(40) + co_await gives(2); }(got));
  EXPECT_EQ(got, 42);
}

TEST_F(a_task, returns_values_that_can_only_be_moved_and_have_no_default) {
  std::unique_ptr<int> owned;
  int plain = 0;
  run([](std::unique_ptr<int>& o, int& p) -> task<void> {
    o = co_await gives_owned(7);
    p = (co_await gives_bare(8)).value;
  }(owned, plain));
  ASSERT_TRUE(owned);
  EXPECT_EQ(*owned, 7);
  EXPECT_EQ(plain, 8);
}

task<int> notes_its_run(diary& d) {
  d.emplace_back("child");
  co_return 1;
}

TEST_F(a_task, begins_when_it_is_awaited_and_not_when_it_is_made) {
  run([](diary& d) -> task<void> {
    auto later = notes_its_run(d);
    d.emplace_back("parent");
    co_await later;
  }(seen));
  EXPECT_EQ(seen, (diary{"parent", "child"}));
}

task<int> throws_far(diary& d) {
  const noted n(d, "thrower");
  throw std::out_of_range("far");
  co_return 0;
}
task<int> passes_on(diary& d) {
  const noted n(d, "middle");
  co_return co_await throws_far(d) + 1;
}

TEST_F(a_task, hands_an_exception_through_all_its_callers_to_the_one_that_catches) {
  run([](diary& d) -> task<void> {
    try {
      co_await passes_on(d);
    } catch (const std::out_of_range& e) {
      d.emplace_back(e.what());
    }
    d.push_back(std::to_string(co_await gives(3)));  // and it can await again
  }(seen));
  EXPECT_EQ(seen, (diary{"thrower", "middle", "far", "3"}));
}

TEST_F(a_task, of_nothing_hands_over_exceptions_too) {
  run([](diary& d) -> task<void> {
    try {
      co_await []() -> task<void> {
        throw std::logic_error("odd");
        co_return;
      }();
    } catch (const std::logic_error& e) {
      d.emplace_back(e.what());
    }
  }(seen));
  EXPECT_EQ(seen, diary{"odd"});
}

task<int> counts_up(int& ran, [[maybe_unused]] std::shared_ptr<int> held) {
  ++ran;
  co_return ran;
}

TEST_F(a_task, that_nobody_awaits_runs_nothing_and_frees_what_it_holds) {
  int ran = 0;
  const auto held = std::make_shared<int>();
  {
    const auto never = counts_up(ran, held);
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(ran, 0);
}

TEST_F(a_task, that_was_moved_from_frees_nothing) {
  int ran = 0;
  const auto held = std::make_shared<int>();
  {
    auto first = counts_up(ran, held);
    const auto second = std::move(first);
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(a_task, waits_for_an_operation_of_asio_and_gets_its_result) {
  bool waited = false;
  run([](executor ex, bool& to) -> task<void> {
    timer t(ex, 1ms);
    const auto [ec] = co_await t.async_wait(as_result);
    to = !ec;
  }(io->get_executor(), waited));
  EXPECT_TRUE(waited);
}

TEST_F(a_task, gets_the_error_and_the_number_of_an_operation) {
  auto [mine, peer] = unix_pair(*io);
  std::size_t got = 0;
  error_code last;
  run([](idem::net::socket a, idem::net::socket b, std::size_t& n, error_code& end) -> task<void> {
    char room[8];
    b.send(asio::buffer("abc", 3));
    std::tie(end, n) = co_await a.async_read_some(asio::buffer(room), as_result);
    EXPECT_FALSE(end);
    b.close();
    end = std::get<0>(co_await a.async_read_some(asio::buffer(room), as_result));
  }(std::move(mine), std::move(peer), got, last));
  EXPECT_EQ(got, 3u);
  EXPECT_EQ(last, asio::error::eof);
}

// ------------------------------------------------------------------------------------------------------------------
// spawn

task<void> notes_its_thread(std::thread::id& where) {
  where = std::this_thread::get_id();
  co_return;
}

TEST_F(a_task, gets_the_exception_of_an_operation_that_cannot_begin_and_goes_on) {
  diary notes;
  run([](diary& d) -> task<void> {
    const std::string kept = "alive";
    try {
      co_await asio::async_initiate<decltype(as_result), void(boost::system::error_code)>(
          [](auto handler) {
            const auto taken = std::move(handler);
            throw std::runtime_error("no thread for it");
          },
          as_result);
    } catch (const std::runtime_error& e) {
      d.emplace_back(e.what());
    }
    d.push_back(kept);
  }(notes));
  EXPECT_EQ(notes, (diary{"no thread for it", "alive"}));
}

TEST_F(a_spawned_task, runs_at_once_on_the_executors_own_thread) {
  asio::post(*io, [&] {
    std::thread::id where;
    spawn(io->get_executor(), notes_its_thread(where));
    EXPECT_EQ(where, std::this_thread::get_id());
  });
  io->run_for(5s);
}

TEST_F(a_spawned_task, of_another_thread_is_run_by_the_executors_thread_when_that_comes_to_it) {
  std::thread::id where, theirs;
  std::thread([&] {
    spawn(io->get_executor(), notes_its_thread(where));
    theirs = std::this_thread::get_id();
  }).join();
  EXPECT_EQ(where, std::thread::id());
  io->run_for(5s);
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_NE(where, theirs);
}

TEST_F(a_spawned_task, that_throws_hands_the_exception_to_its_spawner_once) {
  int failures = 0;
  std::string what;
  spawn(
      io->get_executor(),
      [](diary& d, executor ex) -> task<void> {
        timer t(ex, 1ms);
        co_await t.async_wait(as_result);
        co_await passes_on(d);
      }(seen, io->get_executor()),
      [&](const std::exception_ptr& e) {
        ++failures;
        try {
          std::rethrow_exception(e);
        } catch (const std::out_of_range& o) {
          what = o.what();
        }
      });
  io->run_for(5s);
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(what, "far");
  EXPECT_EQ(seen, (diary{"thrower", "middle"}));
}

TEST_F(a_spawned_task, that_ends_well_reports_no_failure_and_frees_all) {
  int failures = 0;
  const auto held = std::make_shared<int>();
  spawn(
      io->get_executor(), [](std::shared_ptr<int>) -> task<void> { co_return; }(held),
      [&failures, held](const std::exception_ptr&) { ++failures; });
  EXPECT_EQ(held.use_count(), 3);
  io->run_for(5s);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(a_spawned_task, that_waits_for_an_event_is_work_of_its_io_context_until_it_ends) {
  event e;
  spawn(io->get_executor(), waits_for(e, noted(seen, "ended")));
  for (int i = 0; i < 3; ++i) io->poll();
  EXPECT_FALSE(io->stopped());
  EXPECT_EQ(seen, diary{});
  asio::post(*io, [&] { e.set(); });
  io->run_for(5s);
  EXPECT_TRUE(io->stopped());
  EXPECT_EQ(seen, diary{"ended"});
}

TEST_F(a_spawned_task, that_never_began_is_freed_with_its_io_context) {
  int ran = 0;
  spawn(io->get_executor(), [](int& r, noted) -> task<void> {
    ++r;
    co_return;
  }(ran, noted(seen, "parameter")));
  EXPECT_EQ(seen, diary{});
  io.reset();
  EXPECT_EQ(seen, diary{"parameter"});
  EXPECT_EQ(ran, 0);
}

// ------------------------------------------------------------------------------------------------------------------
// stack and memory

std::uintptr_t stack_here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

struct reach {
  std::uintptr_t low = UINTPTR_MAX, high = 0;
  void see() {
    low = std::min(low, stack_here());
    high = std::max(high, stack_here());
  }
  std::uintptr_t length() const { return high - low; }
};
constexpr std::uintptr_t few_calls = 16 * 1024;

task<int> ready(reach& r) {
  r.see();
  co_return 1;
}

TEST_F(a_long_chain, of_a_hundred_thousand_awaits_in_turn_does_not_grow_the_stack) {
  constexpr int many = 100'000;
  int sum = 0;
  reach r;
  run([](int& s, reach& to) -> task<void> {
    for (int i = 0; i < many; ++i) s += co_await ready(to);
    to.see();
  }(sum, r));
  EXPECT_EQ(sum, many);
  EXPECT_LT(r.length(), few_calls);
}

task<int> depth(int left, reach& r) {
  r.see();
  const int below = left == 0 ? 0 : co_await depth(left - 1, r) + 1;
  r.see();
  co_return below;
}

TEST_F(a_long_chain, of_callers_grows_the_stack_neither_on_the_way_down_nor_back) {
  constexpr int many = 100'000;
  int got = 0;
  reach r;
  run([](int& to, reach& s) -> task<void> { to = co_await depth(many, s); }(got, r));
  EXPECT_EQ(got, many);
  EXPECT_LT(r.length(), few_calls);
}

template <std::size_t Size>
task<int> fills(int with) {
  std::array<unsigned char, Size> room;
  room.fill(static_cast<unsigned char>(with));
  co_await gives(0);
  int wrong = 0;
  for (const auto c : room) wrong += c != static_cast<unsigned char>(with);
  co_return wrong;
}

TEST_F(a_frame, of_any_size_is_its_own_while_others_live) {
  int wrong = 0;
  run([](int& to) -> task<void> {
    for (int round = 0; round < 3; ++round) {
      std::vector<task<int>> all;
      for (int i = 0; i < 600; ++i) {
        all.push_back(fills<1>(i));
        all.push_back(fills<200>(i + 1));
        all.push_back(fills<3000>(i + 2));
        if (i % 50 == 0) all.push_back(fills<60'000>(i + 3));
      }
      for (auto& t : all) to += co_await t;
    }
  }(wrong));
  EXPECT_EQ(wrong, 0);
}

TEST_F(a_frame, may_end_on_another_thread_than_it_began_on) {
  constexpr int many = 2'000;
  int wrong = 0, ended = 0;
  for (int round = 0; round < 2; ++round) {
    // made and spawned here, run and freed there
    for (int i = 0; i < many; ++i) {
      spawn(io->get_executor(), [](int with, int& bad, int& count) -> task<void> {
        bad += co_await fills<100>(with);
        bad += co_await fills<700>(with + 1);
        ++count;
      }(i, wrong, ended));
    }
    std::thread([&] { io->run_for(5s); }).join();
    io->restart();
  }
  EXPECT_EQ(ended, 2 * many);
  EXPECT_EQ(wrong, 0);

  // made there, freed here
  std::vector<task<int>> all;
  std::thread([&] {
    for (int i = 0; i < many; ++i) all.push_back(fills<300>(i));
  }).join();
  all.clear();
  run([](int& bad) -> task<void> { bad += co_await fills<300>(5); }(wrong));
  EXPECT_EQ(wrong, 0);
}

TEST_F(a_frame, may_end_when_its_thread_does) {
  const auto held = std::make_shared<int>();
  std::thread([&] {
    // Made before the first frame of the thread, and so destroyed after whatever keeps the frames.
    thread_local std::vector<task<int>> last;
    last.reserve(300);
    int ran = 0;
    for (int i = 0; i < 300; ++i) last.push_back(counts_up(ran, held));
  }).join();
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
