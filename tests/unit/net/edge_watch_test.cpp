#include <gtest/gtest.h>

#include "edge_fixture.hpp"

namespace {

using namespace idem::net;
using namespace idem::net::testing;

struct a_watch : ::testing::TestWithParam<transport> {
  edge e{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(of, a_watch, transports, [](const auto& i) { return name_of(i.param); });

TEST_P(a_watch, is_ended_by_bytes_and_leaves_them_to_the_next_read) {
  e.other->send("first");
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "first");
  const auto w = e.watch();
  EXPECT_TRUE(e.pends(w));
  EXPECT_FALSE(e.s->disturbed());
  e.other->send("second");
  ASSERT_TRUE(e.ends(w));
  EXPECT_FALSE(w->ec);
  EXPECT_TRUE(e.s->disturbed());
  e.turn();
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "second");
}

TEST_P(a_watch, is_ended_by_the_peers_end) {
  e.other->send("first");
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "first");
  const auto w = e.watch();
  EXPECT_TRUE(e.pends(w));
  e.other->finish();
  ASSERT_TRUE(e.ends(w));
  EXPECT_FALSE(w->ec);
  EXPECT_TRUE(e.s->disturbed());
  EXPECT_EQ(e.take(64, expect::message)->ec, asio::error::eof);
}

TEST_P(a_watch, finds_an_end_that_came_with_the_last_bytes_at_once) {
  for (const bool seen_by_reactor : {false, true}) {
    edge own(GetParam());
    report_ptr first;
    if (seen_by_reactor) {
      first = own.read(64, expect::message);
      EXPECT_TRUE(own.pends(first));
    }
    own.other->send("last");
    own.other->finish();
    wait_for(own.fd(), POLLRDHUP);
    if (!seen_by_reactor) first = own.read(64, expect::message);
    ASSERT_TRUE(own.ends(first));
    own.turn();
    const auto w = own.watch();
    EXPECT_TRUE(own.s->disturbed()) << "known before its handler has run";
    own.turn();
    EXPECT_EQ(w->calls, 1);
    EXPECT_FALSE(w->ec);
  }
}

TEST_P(a_watch, finds_bytes_that_came_before_it_began) {
  e.other->send("first");
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "first");
  e.other->send("unasked");
  wait_for_bytes(e.fd(), 7);
  e.turn();
  const auto w = e.watch();
  e.turn();
  EXPECT_EQ(w->calls, 1);
  EXPECT_TRUE(e.s->disturbed());
}

TEST_P(a_watch, before_any_read_finds_what_is_there) {
  const auto quiet = e.watch();
  EXPECT_TRUE(e.pends(quiet));
  e.s->cancel();
  e.turn();
  e.other->send("x");
  wait_for_bytes(e.fd(), 1);
  const auto w = e.watch();
  ASSERT_TRUE(e.ends(w));
  EXPECT_FALSE(w->ec);
}

TEST_P(a_watch, is_not_ended_without_a_cause) {
  e.other->send("first");
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "first");
  const auto w = e.watch();
  e.s->send(asio::buffer("outwards", 8));  // what this side does is no cause
  e.io.run_for(30ms);
  EXPECT_TRUE(e.pends(w));
  EXPECT_FALSE(e.s->disturbed());
}

TEST_P(a_watch, is_not_ended_by_a_wake_up_for_nothing) {
  e.other->send("first");
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "first");
  const auto w = e.watch();
  EXPECT_TRUE(e.pends(w));
  wakes_in_vain(e, [&] {
    EXPECT_EQ(w->calls, 0);
    EXPECT_FALSE(e.s->disturbed());
  });
  e.other->send("second");
  ASSERT_TRUE(e.ends(w));
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "second");
}

TEST_P(a_watch, is_ended_by_cancel_and_a_read_works_then) {
  for (int i = 0; i < 12; ++i) {
    const auto w = e.watch();
    EXPECT_TRUE(e.pends(w));
    e.s->cancel();
    EXPECT_EQ(w->calls, 0);
    if (i % 2) e.turn();
    report_ptr r;
    if (i % 3 == 0) r = e.read(64, expect::message);
    e.other->send("abc");
    wait_for_bytes(e.fd(), i % 3 == 0 ? 0 : 3);
    if (i % 3 == 1) e.turn();
    if (!r) r = e.read(64, expect::message);
    ASSERT_TRUE(e.ends(r)) << i;
    EXPECT_EQ(r->bytes(), "abc");
    e.turn();
    EXPECT_EQ(w->calls, 1);
    EXPECT_EQ(w->ec, asio::error::operation_aborted);
    EXPECT_FALSE(e.s->disturbed()) << "what came after its end does not count";
  }
}

TEST_P(a_watch, that_was_disturbed_is_forgotten_when_the_next_begins) {
  const auto w = e.watch();
  e.other->send("x");
  ASSERT_TRUE(e.ends(w));
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "x");
  const auto next = e.watch();
  EXPECT_TRUE(e.pends(next));
  EXPECT_FALSE(e.s->disturbed());
}

TEST_P(a_watch, is_told_of_the_close_and_the_destruction_of_its_socket) {
  const auto w = e.watch();
  e.s->close();
  ASSERT_TRUE(e.ends(w));
  EXPECT_EQ(w->ec, asio::error::operation_aborted);

  edge own(GetParam());
  const auto v = own.watch();
  own.turn();
  own.s.reset();
  ASSERT_TRUE(own.ends(v));
  EXPECT_EQ(v->ec, asio::error::operation_aborted);
}

TEST_P(a_watch, is_destroyed_untold_with_its_io_context_whether_it_waits_or_has_ended) {
  for (const bool ended : {false, true}) {
    goes_with_the_io_context(e, ended, [&](edge_socket& s, auto held) {
      s.async_watch([h = std::move(held)](error_code) mutable { h(); });
    });
  }
}

}  // namespace
