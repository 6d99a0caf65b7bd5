#include "idem/net/edge_socket.hpp"

#include <gtest/gtest.h>

#include <boost/asio/write.hpp>

#include <functional>

#include "edge_fixture.hpp"

namespace {

using namespace idem::net;
using namespace idem::net::testing;

struct a_read : ::testing::TestWithParam<std::tuple<transport, expect>> {
  expect what = std::get<1>(GetParam());
  edge e{std::get<0>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(of, a_read, ::testing::Combine(transports, ::testing::Values(expect::message, expect::rest)),
                         [](const auto& i) {
                           return name_of(std::get<0>(i.param)) + "_" + name_of(std::get<1>(i.param));
                         });

TEST_P(a_read, finds_bytes_that_came_before_it_began) {
  e.other->send("hello");
  wait_for_bytes(e.fd(), 5);
  const auto r = e.take(64, what);
  EXPECT_FALSE(r->ec);
  EXPECT_EQ(r->bytes(), "hello");
}

TEST_P(a_read, waits_for_bytes_that_come_later) {
  const auto r = e.read(64, what);
  EXPECT_TRUE(e.pends(r));
  e.other->send("hello");
  ASSERT_TRUE(e.ends(r));
  EXPECT_FALSE(r->ec);
  EXPECT_EQ(r->bytes(), "hello");
}

TEST_P(a_read, takes_messages_in_turn_whether_they_come_before_it_after_it_or_unseen) {
  for (int i = 0; i < 300; ++i) {
    const auto text = "message " + std::to_string(i);
    const bool before = i % 3 != 0, unseen = i % 3 == 1;
    if (before) e.other->send(text);
    if (before) wait_for_bytes(e.fd(), static_cast<int>(text.size()));
    if (unseen) e.turn();  // the reactor is told of them while nothing reads
    const auto r = e.read(64, what);
    if (!before) {
      EXPECT_TRUE(e.pends(r));
      e.other->send(text);
    }
    ASSERT_TRUE(e.ends(r)) << i;
    ASSERT_EQ(r->bytes(), text);
  }
}

TEST_P(a_read, smaller_than_what_came_leaves_the_rest_to_the_next) {
  for (const bool before : {true, false}) {
    report_ptr first;
    if (!before) first = e.read(3, what);
    if (!before) EXPECT_TRUE(e.pends(first));
    e.other->send("abcdefgh");
    wait_for_bytes(e.fd(), 8);
    if (before) first = e.read(3, what);
    ASSERT_TRUE(e.ends(first));
    EXPECT_EQ(first->bytes(), "abc");
    EXPECT_FALSE(e.s->drained());
    e.turn();
    EXPECT_EQ(e.take(3, what)->bytes(), "def");
    EXPECT_EQ(e.take(3, what)->bytes(), "gh");
  }
}

TEST_P(a_read, that_exactly_fills_its_buffer_does_not_lose_what_comes_next) {
  for (int i = 0; i < 20; ++i) {
    e.other->send("abcd");
    EXPECT_EQ(e.take(4, what)->bytes(), "abcd");
    const auto r = e.read(4, what);
    EXPECT_TRUE(e.pends(r));
    e.other->send("efgh");
    ASSERT_TRUE(e.ends(r));
    EXPECT_EQ(r->bytes(), "efgh");
  }
}

TEST_P(a_read, finds_an_end_that_came_with_the_last_bytes_at_once) {
  for (const bool before : {true, false}) {
    edge own(std::get<0>(GetParam()));
    report_ptr first;
    if (!before) first = own.read(64, what);
    if (!before) EXPECT_TRUE(own.pends(first));
    own.other->send("last");
    own.other->finish();
    wait_for(own.fd(), POLLRDHUP);
    if (before) first = own.read(64, what);
    ASSERT_TRUE(own.ends(first));
    EXPECT_EQ(first->bytes(), "last");
    EXPECT_FALSE(own.s->drained());
    own.turn();
    const auto end = own.read(64, what);
    own.turn();
    EXPECT_EQ(end->calls, 1) << "not found at once";
    EXPECT_EQ(end->ec, asio::error::eof);
    EXPECT_EQ(end->n, 0u);
    EXPECT_FALSE(own.s->drained());
    EXPECT_EQ(own.take(64, what)->ec, asio::error::eof) << "and again";
  }
}

TEST_P(a_read, finds_an_end_that_comes_while_it_waits_or_while_nothing_reads) {
  for (const bool waits : {true, false}) {
    edge own(std::get<0>(GetParam()));
    own.other->send("last");
    EXPECT_EQ(own.take(64, what)->bytes(), "last");
    report_ptr r;
    if (waits) r = own.read(64, what);
    own.turn();
    own.other->close();
    wait_for(own.fd(), POLLRDHUP);
    own.turn();
    if (!waits) r = own.read(64, what);
    ASSERT_TRUE(own.ends(r));
    EXPECT_EQ(r->ec, asio::error::eof);
  }
}

TEST_P(a_read, is_ended_by_cancel_and_another_takes_what_comes_then) {
  const auto r = e.read(64, what);
  EXPECT_TRUE(e.pends(r));
  e.s->cancel();
  EXPECT_EQ(r->calls, 0);
  ASSERT_TRUE(e.ends(r));
  EXPECT_EQ(r->ec, asio::error::operation_aborted);
  EXPECT_EQ(r->n, 0u);
  e.other->send("later");
  wait_for_bytes(e.fd(), 5);
  e.turn();
  EXPECT_EQ(e.take(64, what)->bytes(), "later");
}

TEST_P(a_read, is_ended_by_close) {
  const auto r = e.read(64, what);
  EXPECT_TRUE(e.pends(r));
  e.s->close();
  EXPECT_EQ(r->calls, 0);
  ASSERT_TRUE(e.ends(r));
  EXPECT_EQ(r->ec, asio::error::operation_aborted);
}

TEST_P(a_read, of_a_closed_socket_fails) {
  e.other->send("x");
  EXPECT_EQ(e.take(64, what)->bytes(), "x");
  e.s->close();
  EXPECT_EQ(e.take(64, what)->ec, asio::error::bad_descriptor);
}

TEST_P(a_read, is_told_of_the_destruction_of_its_socket) {
  const auto r = e.read(64, what);
  EXPECT_TRUE(e.pends(r));
  e.s.reset();
  EXPECT_EQ(r->calls, 0);
  ASSERT_TRUE(e.ends(r));
  EXPECT_EQ(r->ec, asio::error::operation_aborted);
}

TEST_P(a_read, is_destroyed_untold_with_its_io_context_whether_it_waits_or_has_ended) {
  char room[8];
  for (const bool ended : {false, true}) {
    goes_with_the_io_context(e, ended, [&](edge_socket& s, auto held) {
      s.async_read(asio::buffer(room), what, [h = std::move(held)](error_code, std::size_t) mutable { h(); });
    });
  }
}

TEST_P(a_read, goes_on_waiting_when_it_is_woken_for_nothing) {
  const auto r = e.read(64, what);
  EXPECT_TRUE(e.pends(r));
  wakes_in_vain(e, [&] { EXPECT_EQ(r->calls, 0); });
  e.other->send("seen");
  ASSERT_TRUE(e.ends(r));
  EXPECT_EQ(r->bytes(), "seen");
}

TEST_P(a_read, may_be_started_by_the_handler_of_the_one_before) {
  std::string got;
  char room[4];
  error_code end;
  std::function<void(error_code, std::size_t)> next = [&](error_code ec, std::size_t n) {
    got.append(room, n);
    end = ec;
    if (!ec) e.s->async_read(asio::buffer(room), what, [&](error_code f, std::size_t m) { next(f, m); });
  };
  next({}, 0);
  e.turn();
  for (int i = 0; i < 50; ++i) {
    e.other->send("0123456789");
    e.turn();
  }
  e.other->finish();
  const auto until = clock_type::now() + limit;
  while (!end && clock_type::now() < until) {
    e.io.restart();
    e.io.run_one_for(100ms);
  }
  EXPECT_EQ(end, asio::error::eof);
  EXPECT_EQ(got.size(), 500u);
}

TEST_P(a_read, and_a_write_are_under_way_at_the_same_time) {
  const auto r = e.read(64, what);
  const std::string much(8'000'000, 'x');
  bool written = false;
  asio::async_write(*e.s, asio::buffer(much), [&](error_code ec, std::size_t) { written = !ec; });
  EXPECT_TRUE(e.pends(r));
  EXPECT_FALSE(written) << "the kernel takes more than this test thought";
  e.other->send("meanwhile");
  ASSERT_TRUE(e.ends(r));
  EXPECT_EQ(r->bytes(), "meanwhile");
  EXPECT_FALSE(written);
}

}  // namespace
