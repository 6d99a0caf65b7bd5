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

TEST_P(a_watch, that_was_ended_gives_its_place_to_the_next_read) {
  for (int i = 0; i < 4; ++i) {
    const auto w = e.watch();
    EXPECT_TRUE(e.pends(w));
    e.s->end_watch();
    const auto r = e.read(64, i % 2 ? expect::message : expect::rest);
    EXPECT_TRUE(e.pends(r));
    e.other->send("abc");
    ASSERT_TRUE(e.ends(r)) << i;
    EXPECT_EQ(r->bytes(), "abc");
    EXPECT_EQ(w->calls, 0) << "nobody wants to know any more";
    EXPECT_FALSE(e.s->disturbed());
    EXPECT_EQ(e.io.poll(), 0U) << "nothing is left over of it";
  }
  const auto last = e.read(64, expect::message);
  e.other->finish();
  ASSERT_TRUE(e.ends(last));
  EXPECT_EQ(last->ec, asio::error::eof);
}

TEST_P(a_watch, that_was_ended_keeps_what_comes_before_the_next_read) {
  for (const auto what : {expect::message, expect::rest}) {
    for (const bool seen_by_reactor : {true, false}) {
      const auto w = e.watch();
      EXPECT_TRUE(e.pends(w));
      e.s->end_watch();
      e.other->send("abc");
      wait_for_bytes(e.fd(), 3);
      if (seen_by_reactor) e.turn();
      const auto r = e.take(64, what);
      EXPECT_EQ(r->bytes(), "abc");
      EXPECT_FALSE(e.s->disturbed());
      EXPECT_EQ(w->calls, 0);
      const auto next = e.watch();
      EXPECT_TRUE(e.pends(next));
      if (w->calls) EXPECT_EQ(w->ec, asio::error::operation_aborted);
      e.other->send("x");
      ASSERT_TRUE(e.ends(next)) << "the one before must not stand in its way";
      EXPECT_TRUE(e.s->disturbed());
      EXPECT_EQ(e.take(64, expect::message)->bytes(), "x");
    }
  }
}

TEST_P(a_watch, that_was_ended_keeps_the_peers_end_for_the_next_read) {
  for (const bool seen_by_reactor : {true, false}) {
    edge own(GetParam());
    const auto w = own.watch();
    EXPECT_TRUE(own.pends(w));
    own.s->end_watch();
    own.other->finish();
    wait_for(own.fd(), POLLRDHUP);
    if (seen_by_reactor) own.turn();
    EXPECT_EQ(own.take(64, expect::message)->ec, asio::error::eof);
  }
}

TEST_P(a_watch, that_was_ended_is_no_way_around_cancel_and_close) {
  for (const bool read_before : {true, false}) {
    for (const bool close : {true, false}) {
      edge own(GetParam());
      const auto w = own.watch();
      EXPECT_TRUE(own.pends(w));
      own.s->end_watch();
      report_ptr r;
      if (read_before) r = own.read(64, expect::message);
      if (close) {
        own.s->close();
      } else {
        own.s->cancel();
        if (!r) {
          // a read that is started while the watch is on its way out has no part in that
          r = own.read(64, expect::message);
          own.turn();
          own.other->send("abc");
          ASSERT_TRUE(own.ends(r));
          EXPECT_EQ(r->bytes(), "abc");
          EXPECT_EQ(w->ec, asio::error::operation_aborted);
          continue;
        }
      }
      if (r) {
        ASSERT_TRUE(own.ends(r));
        EXPECT_EQ(r->ec, asio::error::operation_aborted);
        EXPECT_EQ(w->calls, 0);
      } else {
        ASSERT_TRUE(own.ends(w));
        EXPECT_EQ(w->ec, asio::error::operation_aborted);
      }
    }
  }
}

TEST_P(a_watch, that_was_ended_outlives_its_socket) {
  for (const bool with_read : {true, false}) {
    edge own(GetParam());
    const auto w = own.watch();
    own.turn();
    own.s->end_watch();
    const auto r = with_read ? own.read(64, expect::message) : nullptr;
    own.s.reset();
    const auto& told = with_read ? r : w;
    ASSERT_TRUE(own.ends(told));
    EXPECT_EQ(told->ec, asio::error::operation_aborted);
    own.turn();
    EXPECT_EQ(w->calls, with_read ? 0 : 1);
  }
}

TEST_P(a_watch, that_was_ended_is_destroyed_with_its_io_context_and_its_read) {
  for (const bool with_read : {false, true}) {
    const auto token = std::make_shared<int>();
    int calls = 0;
    {
      edge own(GetParam());
      own.s->async_watch([token, &calls](error_code) { ++calls; });
      own.turn();
      own.s->end_watch();
      std::vector<char> room(8);
      if (with_read)
        own.s->async_read(asio::buffer(room), expect::message, [token, &calls](error_code, std::size_t) { ++calls; });
    }
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(token.use_count(), 1);
  }
}

}  // namespace
