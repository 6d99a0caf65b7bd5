// One end of a connection as an edge_socket on an io_context of its own, and the other as a plain descriptor.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "idem/net/edge_socket.hpp"

namespace idem::net::testing {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using expect = edge_socket::expect;

inline constexpr auto limit = 5s;

/// The other end: a plain descriptor that blocks, for no longer than the limit.
class peer {
 public:
  explicit peer(int fd) : fd_(fd) {
    const timeval t{5, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
  }
  peer(peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  peer& operator=(peer&&) = delete;
  ~peer() { close(); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void send_urgent(char c) { ::send(fd_, &c, 1, MSG_OOB | MSG_NOSIGNAL); }
  void finish() { ::shutdown(fd_, SHUT_WR); }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  /// All that was sent stands in the receiver's queue; false at the limit.
  bool delivered() const {
    for (const auto end = clock_type::now() + limit; clock_type::now() < end; std::this_thread::sleep_for(100us)) {
      int left = 1;
      ::ioctl(fd_, SIOCOUTQ, &left);
      if (left == 0) return true;
    }
    return false;
  }

 private:
  int fd_;
};

enum class transport { tcp, unix_pair };

inline std::pair<int, int> tcp_pair() {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof a;
  auto* address = reinterpret_cast<sockaddr*>(&a);
  EXPECT_EQ(::bind(listening, address, size), 0);
  EXPECT_EQ(::listen(listening, 1), 0);
  ::getsockname(listening, address, &size);
  const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(one, address, size), 0);
  const int other = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  ::close(listening);
  const int on = 1;
  ::setsockopt(other, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return {one, other};
}

/// Waits until the kernel says one of `events` about the descriptor.
inline void wait_for(int fd, short events) {
  pollfd p{fd, events, 0};
  const int n = ::poll(&p, 1, 5000);
  EXPECT_TRUE(n == 1 && (p.revents & events) != 0) << "what was sent has not arrived";
}
inline void wait_for_bytes(int fd, int count) {
  const auto end = clock_type::now() + limit;
  int there = 0;
  while (::ioctl(fd, FIONREAD, &there) == 0 && there < count && clock_type::now() < end) {
    std::this_thread::sleep_for(100us);
  }
  EXPECT_GE(there, count) << "what was sent has not arrived";
}

/// What a handler was told, and the bytes.
struct report {
  int calls = 0;
  error_code ec;
  std::size_t n = 0;
  std::vector<char> room;
  std::string bytes() const { return {room.data(), n}; }
};
using report_ptr = std::shared_ptr<report>;

/// One end under test, on an io_context of its own.
struct edge {
  asio::io_context io{1};
  std::optional<edge_socket> s;
  std::optional<peer> other;

  explicit edge(transport t) {
    std::pair<int, int> fds;
    if (t == transport::tcp) {
      fds = tcp_pair();
    } else {
      int both[2] = {-1, -1};
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
      fds = {both[0], both[1]};
    }
    const auto p = t == transport::tcp ? asio::generic::stream_protocol(AF_INET, IPPROTO_TCP)
                                       : asio::generic::stream_protocol(AF_UNIX, 0);
    s.emplace(idem::net::socket(io, p, fds.first));
    other.emplace(fds.second);
  }

  int fd() { return s->native_handle(); }
  report_ptr read(std::size_t room, expect what) {
    auto r = std::make_shared<report>();
    r->room.resize(room);
    s->async_read(asio::buffer(r->room), what, [r](error_code ec, std::size_t n) {
      ++r->calls;
      r->ec = ec;
      r->n = n;
    });
    EXPECT_EQ(r->calls, 0) << "told from inside of the call";
    return r;
  }
  report_ptr watch() {
    auto r = std::make_shared<report>();
    s->async_watch([r](error_code ec) {
      ++r->calls;
      r->ec = ec;
    });
    EXPECT_EQ(r->calls, 0) << "told from inside of the call";
    return r;
  }

  /// All that can happen by now.
  void turn() {
    for (int i = 0; i < 4; ++i) {
      io.restart();
      io.poll();
    }
  }
  bool ends(const report_ptr& r) {
    const auto end = clock_type::now() + limit;
    while (r->calls == 0 && clock_type::now() < end) {
      io.restart();
      io.run_one_for(100ms);
    }
    EXPECT_EQ(r->calls, 1) << "not told within the limit";
    return r->calls == 1;
  }
  bool pends(const report_ptr& r) {
    turn();
    return r->calls == 0;
  }
  /// One read, from its start to its end.
  report_ptr take(std::size_t room, expect what) {
    auto r = read(room, what);
    ends(r);
    return r;
  }
};

inline std::string name_of(transport t) { return t == transport::tcp ? "tcp" : "unix"; }
inline std::string name_of(expect e) { return e == expect::message ? "message" : "rest"; }

inline const auto transports = ::testing::Values(transport::tcp, transport::unix_pair);

/// A socket that its own handler keeps alive, as a coroutine does.
template <class Start>
void goes_with_the_io_context(edge& e, bool with_bytes, Start start) {
  const auto token = std::make_shared<int>();
  int calls = 0;
  const int fd = e.fd();
  {
    asio::io_context own{1};
    const auto p = asio::generic::stream_protocol(AF_UNIX, 0);
    auto s = std::make_shared<edge_socket>(idem::net::socket(own, p, ::dup(fd)));
    if (with_bytes) e.other->send("x");
    start(*s, [s, token, &calls] { ++calls; });
    s.reset();
    if (!with_bytes) own.poll();
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(calls, 0);
}

/// The first of two sockets, whose events come in one turn of the reactor, takes what the event of the second is about.
template <class Meanwhile>
void wakes_in_vain(edge& e, Meanwhile meanwhile) {
  int both[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
  peer trigger(both[1]);
  idem::net::socket first(e.io, asio::generic::stream_protocol(AF_UNIX, 0), both[0]);
  bool taken = false;
  first.async_wait(idem::net::socket::wait_read, [&](error_code) {
    char scrap[16];
    taken = ::recv(e.fd(), scrap, sizeof scrap, MSG_DONTWAIT) > 0;
  });
  e.turn();
  trigger.send("!");
  e.other->send("unseen");
  wait_for_bytes(e.fd(), 6);
  e.turn();
  ASSERT_TRUE(taken);
  meanwhile();
}

}  // namespace idem::net::testing
