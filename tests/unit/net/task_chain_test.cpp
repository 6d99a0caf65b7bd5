// What becomes of coroutines that wait for something that goes.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <optional>

#include "idem/net/stream.hpp"
#include "task_fixture.hpp"

namespace {

using namespace idem::net;
using namespace idem::net::testing;

using an_abandoned_chain = task_test;
using a_kept_owner = task_test;
using a_resumption = task_test;

/// Suspends, and leaves the right to go on to the test.
struct gives_away {
  std::optional<resumption>& to;
  bool await_ready() const noexcept { return false; }
  template <std::derived_from<frame> P>
  void await_suspend(std::coroutine_handle<P> waiting) {
    to.emplace(waiting.promise());
  }
  void await_resume() const noexcept {}
};

using calls = std::function<task<void>()>;

task<void> middle_of_three(diary& d, const calls& inner) {
  const noted first(d, "middle, first");
  const noted second(d, "middle, second");
  co_await inner();
  ADD_FAILURE() << "went on";
}
task<void> first_of_three(diary& d, calls inner) {
  const noted local(d, "outer");
  co_await middle_of_three(d, inner);
  ADD_FAILURE() << "went on";
}
const diary innermost_first{"inner", "middle, second", "middle, first", "outer"};

task<void> sleeps(executor ex, diary& d) {
  timer t(ex, 1h);
  const noted local(d, "inner");
  co_await t.async_wait(as_result);
  ADD_FAILURE() << "went on";
}

TEST_F(an_abandoned_chain, that_waits_for_a_timer_is_destroyed_with_the_io_context_from_the_inside) {
  spawn(io->get_executor(), first_of_three(seen, [&] { return sleeps(io->get_executor(), seen); }));
  io->poll();
  EXPECT_EQ(seen, diary{});
  io.reset();
  EXPECT_EQ(seen, innermost_first);
}

task<void> reads(idem::net::socket from, diary& d) {
  stream s(std::move(from));
  const noted local(d, "inner");
  char room[16];
  co_await s.read_first(asio::buffer(room));
  ADD_FAILURE() << "went on";
}

TEST_F(an_abandoned_chain, that_waits_for_a_read_is_destroyed_with_the_io_context_and_closes_its_socket) {
  asio::io_context elsewhere{1};
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  idem::net::socket peer(elsewhere, unix_stream, fds[1]);
  spawn(io->get_executor(),
        first_of_three(seen, [&] { return reads(idem::net::socket(*io, unix_stream, fds[0]), seen); }));
  io->poll();
  EXPECT_EQ(seen, diary{});
  io.reset();
  EXPECT_EQ(seen, innermost_first);
  char c = 0;
  EXPECT_EQ(::recv(peer.native_handle(), &c, 1, MSG_DONTWAIT), 0);
}

task<void> sleeps_on(std::shared_ptr<timer> t, diary& d) {
  const noted local(d, "inner");
  co_await t->async_wait(as_result);
  ADD_FAILURE() << "went on";
}

TEST_F(an_abandoned_chain, whose_operation_has_completed_but_was_not_told_is_destroyed_as_well) {
  auto t = std::make_shared<timer>(io->get_executor(), 1h);
  spawn(io->get_executor(), first_of_three(seen, [&] { return sleeps_on(t, seen); }));
  io->poll();
  t->cancel();
  t.reset();
  EXPECT_EQ(seen, diary{});
  io.reset();
  EXPECT_EQ(seen, innermost_first);
}

TEST_F(an_abandoned_chain, reports_no_failure) {
  int failures = 0;
  spawn(
      io->get_executor(),
      [](executor ex) -> task<void> {
        timer t(ex, 1h);
        co_await t.async_wait(as_result);
      }(io->get_executor()),
      [&](const std::exception_ptr&) { ++failures; });
  io->poll();
  io.reset();
  EXPECT_EQ(failures, 0);
}

TEST_F(an_abandoned_chain, is_destroyed_when_the_event_goes_that_it_waits_for) {
  auto e = std::make_unique<event>();
  spawn(io->get_executor(), first_of_three(seen, [&] { return waits_for(*e, noted(seen, "inner")); }));
  io->poll();
  EXPECT_EQ(seen, diary{});
  e.reset();
  EXPECT_EQ(seen, innermost_first);
  io->poll();
  EXPECT_TRUE(io->stopped()) << "the work of the chain is left";
}

struct owner_of_work {
  diary& d;
  explicit owner_of_work(diary& to) : d(to) {}
  owner_of_work(const owner_of_work&) = delete;
  owner_of_work& operator=(const owner_of_work&) = delete;
  ~owner_of_work() { d.emplace_back("owner"); }
  task<void> work(event& e, [[maybe_unused]] noted parameter) {
    const noted local(d, "local");
    if (!e.is_set()) co_await e.wait();
    d.emplace_back("worked");
  }
};

TEST_F(a_kept_owner, lives_until_the_task_has_ended_and_is_destroyed_after_it) {
  event e;
  auto owner = std::make_shared<owner_of_work>(seen);
  auto work = owner->work(e, noted(seen, "parameter"));
  spawn(io->get_executor(), keeping(std::move(owner), std::move(work)));
  io->poll();
  EXPECT_EQ(seen, diary{});
  e.set();
  EXPECT_EQ(seen, (diary{"worked", "local", "parameter", "owner"}));
}

TEST_F(a_kept_owner, is_destroyed_after_a_task_that_is_abandoned) {
  auto e = std::make_unique<event>();
  auto owner = std::make_shared<owner_of_work>(seen);
  auto work = owner->work(*e, noted(seen, "parameter"));
  spawn(io->get_executor(), keeping(std::move(owner), std::move(work)));
  io->poll();
  e.reset();
  EXPECT_EQ(seen, (diary{"local", "parameter", "owner"}));
}

TEST_F(a_kept_owner, is_destroyed_after_a_task_that_never_began) {
  event e;
  auto owner = std::make_shared<owner_of_work>(seen);
  auto work = owner->work(e, noted(seen, "parameter"));
  spawn(io->get_executor(), keeping(std::move(owner), std::move(work)));
  io.reset();
  EXPECT_EQ(seen, (diary{"parameter", "owner"}));
}

task<void> leaves(std::optional<resumption>& to, diary& d) {
  const noted local(d, "inner");
  co_await gives_away{to};
  d.emplace_back("went on");
}
task<void> leaves_below(std::optional<resumption>& to, diary& d) {
  const noted local(d, "outer");
  co_await leaves(to, d);
}

TEST_F(a_resumption, that_is_let_go_unused_destroys_the_whole_chain) {
  std::optional<resumption> right;
  spawn(io->get_executor(), leaves_below(right, seen));
  io->poll();
  ASSERT_TRUE(right);
  EXPECT_EQ(seen, diary{});
  right.reset();
  EXPECT_EQ(seen, (diary{"inner", "outer"}));
}

TEST_F(a_resumption, that_was_used_destroys_nothing_more) {
  std::optional<resumption> right;
  spawn(io->get_executor(), leaves_below(right, seen));
  io->poll();
  (*right)();
  EXPECT_EQ(seen, (diary{"went on", "inner", "outer"}));
  right.reset();
  EXPECT_EQ(seen.size(), 3u);
}

TEST_F(a_resumption, stays_in_force_when_it_is_moved_and_only_there) {
  std::optional<resumption> right;
  spawn(io->get_executor(), leaves_below(right, seen));
  io->poll();
  {
    resumption moved = std::move(*right);
    right.reset();
    EXPECT_EQ(seen, diary{});
  }
  EXPECT_EQ(seen, (diary{"inner", "outer"}));
}

}  // namespace
