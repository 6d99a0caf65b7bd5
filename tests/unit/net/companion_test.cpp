#include "idem/net/companion.hpp"

#include <new>

#include "task_fixture.hpp"

namespace {

using namespace idem::net;
using namespace idem::net::testing;

using a_companion = task_test;

task<void> waits(event& e) { co_await e.wait(); }
task<void> breaks(event& e) {
  co_await e.wait();
  throw std::bad_alloc();
}

TEST_F(a_companion, runs_beside_its_owner_who_can_wait_for_its_end) {
  event go;
  companion beside;
  run([](asio::io_context& io, event& e, companion& c, diary& d) -> task<void> {
    c.start(io.get_executor(), waits(e), [] {});
    EXPECT_TRUE(c.running());
    asio::post(io, [&] { e.set(); });
    co_await c.ended();
    d.emplace_back("ended");
  }(*io, go, beside, seen));
  EXPECT_EQ(seen, diary{"ended"});
  EXPECT_FALSE(beside.running());
}

TEST_F(a_companion, that_has_ended_or_was_never_begun_is_not_waited_for) {
  event go;
  companion beside;
  run([](asio::io_context& io, event& e, companion& c) -> task<void> {
    co_await c.ended();
    c.start(io.get_executor(), waits(e), [] {});
    e.set();
    co_await c.ended();
  }(*io, go, beside));
}

TEST_F(a_companion, that_throws_says_so_and_has_ended_for_whoever_waits) {
  event go;
  companion beside;
  run([](asio::io_context& io, event& e, companion& c, diary& d) -> task<void> {
    c.start(io.get_executor(), breaks(e), [&d] { d.emplace_back("failed"); });
    asio::post(io, [&] { e.set(); });
    co_await c.ended();
    d.emplace_back("ended");
  }(*io, go, beside, seen));
  EXPECT_EQ(seen, (diary{"failed", "ended"}));
}

TEST_F(a_companion, is_waited_for_by_an_owner_that_something_has_thrown_out) {
  event go;
  companion beside;
  const auto owner = [](asio::io_context& io, event& e, companion& c, diary& d) -> task<void> {
    std::exception_ptr thrown;
    try {
      c.start(io.get_executor(), waits(e), [] {});
      throw std::bad_alloc();
    } catch (...) {
      thrown = std::current_exception();
    }
    asio::post(io, [&] { d.emplace_back("told"), e.set(); });
    co_await c.ended();
    d.emplace_back("goes");
    std::rethrow_exception(thrown);
  };
  EXPECT_THROW(run(owner(*io, go, beside, seen)), std::bad_alloc);
  EXPECT_EQ(seen, (diary{"told", "goes"}));
}

TEST_F(a_companion, can_be_begun_again) {
  companion beside;
  for (int n = 0; n < 2; ++n) {
    io->restart();
    event go;
    run([](asio::io_context& io, event& e, companion& c) -> task<void> {
      c.start(io.get_executor(), waits(e), [] {});
      asio::post(io, [&] { e.set(); });
      co_await c.ended();
    }(*io, go, beside));
  }
}

}  // namespace
