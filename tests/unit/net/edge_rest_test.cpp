// What only TCP has: resets, and a kernel that tells what a read has left.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <atomic>

#include "edge_fixture.hpp"

namespace {

std::atomic<int> looks = 0;  ///< calls of recvmsg in this program

}  // namespace

/// Stands before the C library's own, to count how often the kernel is asked for bytes.
extern "C" ssize_t recvmsg(int fd, msghdr* message, int flags) {
  looks.fetch_add(1, std::memory_order_relaxed);
  return ::syscall(SYS_recvmsg, fd, message, flags);
}

namespace {

using namespace idem::net;
using namespace idem::net::testing;

struct tcp_test : ::testing::Test {
  edge e{transport::tcp};

  void reset_with(std::string_view last) {
    e.other->send(last);
    EXPECT_TRUE(e.other->delivered());
    e.other->reset();
    wait_for(e.fd(), POLLERR | POLLHUP);
  }
};
using a_reset = tcp_test;
using what_is_left = tcp_test;

TEST_F(a_reset, that_came_with_the_last_bytes_is_found_at_once_by_a_read_of_the_rest) {
  for (const bool before : {true, false}) {
    edge own(transport::tcp);
    report_ptr first;
    if (!before) first = own.read(64, expect::message);
    if (!before) EXPECT_TRUE(own.pends(first));
    own.other->send("begun");
    EXPECT_TRUE(own.other->delivered());
    own.other->reset();
    wait_for(own.fd(), POLLERR | POLLHUP);
    if (before) first = own.read(64, expect::message);
    ASSERT_TRUE(own.ends(first));
    EXPECT_EQ(first->bytes(), "begun");
    const auto rest = own.read(64, expect::rest);
    own.turn();
    EXPECT_EQ(rest->calls, 1) << "not found at once";
    EXPECT_EQ(rest->ec, asio::error::connection_reset);
  }
}

TEST_F(a_reset, while_a_read_waits_ends_it) {
  for (const auto what : {expect::message, expect::rest}) {
    edge own(transport::tcp);
    own.other->send("before");
    EXPECT_EQ(own.take(64, what)->bytes(), "before");
    const auto r = own.read(64, what);
    EXPECT_TRUE(own.pends(r));
    own.other->reset();
    ASSERT_TRUE(own.ends(r));
    EXPECT_EQ(r->ec, asio::error::connection_reset);
  }
}

TEST_F(a_reset, while_nothing_reads_is_found_by_the_next_read) {
  for (const auto what : {expect::message, expect::rest}) {
    edge own(transport::tcp);
    own.other->send("before");
    EXPECT_EQ(own.take(64, what)->bytes(), "before");
    own.turn();
    own.other->reset();
    wait_for(own.fd(), POLLERR | POLLHUP);
    own.turn();
    EXPECT_EQ(own.take(64, what)->ec, asio::error::connection_reset);
  }
}

TEST_F(a_reset, ends_a_watch) {
  e.other->send("before");
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "before");
  const auto w = e.watch();
  EXPECT_TRUE(e.pends(w));
  e.other->reset();
  ASSERT_TRUE(e.ends(w));
  EXPECT_FALSE(w->ec);
  EXPECT_TRUE(e.s->disturbed());
}

TEST_F(a_reset, that_left_bytes_behind_ends_a_watch_at_once) {
  reset_with("abcdef");
  EXPECT_EQ(e.take(3, expect::message)->bytes(), "abc");
  const auto w = e.watch();
  e.turn();
  EXPECT_EQ(w->calls, 1);
}

TEST_F(what_is_left, is_nothing_after_a_read_that_took_all) {
  e.other->send("abc");
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "abc");
  EXPECT_TRUE(e.s->drained());
  e.other->send("def");
  EXPECT_EQ(e.take(3, expect::rest)->bytes(), "def");
  EXPECT_TRUE(e.s->drained()) << "though the buffer is full";
}

TEST_F(what_is_left, is_something_after_a_read_that_left_a_byte) {
  e.other->send("abcd");
  wait_for_bytes(e.fd(), 4);
  EXPECT_EQ(e.take(3, expect::message)->bytes(), "abc");
  EXPECT_FALSE(e.s->drained());
  EXPECT_EQ(e.take(3, expect::message)->bytes(), "d");
  EXPECT_TRUE(e.s->drained());
}

TEST_F(what_is_left, is_unknown_before_the_first_read) { EXPECT_FALSE(e.s->drained()); }

TEST_F(what_is_left, is_never_said_to_be_nothing_where_the_kernel_cannot_tell) {
  edge own(transport::unix_pair);
  own.other->send("abc");
  EXPECT_EQ(own.take(64, expect::message)->bytes(), "abc");
  EXPECT_FALSE(own.s->drained());
}

TEST_F(what_is_left, behind_an_urgent_byte_is_found) {
  e.other->send("abc");
  e.other->send_urgent('!');
  e.other->send("def");
  EXPECT_TRUE(e.other->delivered());
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "abc");
  e.turn();
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "def");
}

TEST_F(what_is_left, is_asked_for_once_a_message_and_never_in_vain) {
  constexpr int many = 200;
  e.other->send("hello");
  EXPECT_EQ(e.take(64, expect::message)->bytes(), "hello");
  looks = 0;
  for (int i = 0; i < many; ++i) {
    const auto r = e.read(64, expect::message);
    EXPECT_TRUE(e.pends(r));
    e.other->send("hello");
    ASSERT_TRUE(e.ends(r));
  }
  // The first of all was taken by a look of the read's own, which the reactor has not heard of.
  EXPECT_LE(looks, many + 1);
}

}  // namespace
