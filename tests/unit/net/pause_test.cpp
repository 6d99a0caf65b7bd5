#include "idem/net/pause.hpp"

#include "task_fixture.hpp"

namespace {

using namespace idem::net;
using namespace idem::net::testing;

using a_pause = task_test;

TEST_F(a_pause, ends_when_its_time_has_passed_and_earlier_when_it_is_woken) {
  deadline_wheel wheel(*io);
  idem::net::pause p(wheel);
  const auto began = std::chrono::steady_clock::now();
  run([](asio::io_context& context, idem::net::pause& rest, diary& d) -> task<void> {
    co_await rest.wait(60ms);
    d.emplace_back("time");
    asio::post(context, [&] { rest.wake(); });
    co_await rest.wait(1h);
    d.emplace_back("woken");
    rest.wake();  // nobody waits: the next wait takes its time all the same
    co_await rest.wait(60ms);
    d.emplace_back("time");
  }(*io, p, seen));
  EXPECT_EQ(seen, (diary{"time", "woken", "time"}));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 120ms);
}

}  // namespace
