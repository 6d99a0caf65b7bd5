// Idle connections to a backend that is a listener of this test.
#include "proxy/upstream_pool.hpp"

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "idem/net/task.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
namespace asio = idem::net::asio;
using idem::proxy::reuse;
using idem::proxy::upstream_pool;
using idem::proxy::upstream_ptr;

class an_idle_connection : public ::testing::Test {
 protected:
  void SetUp() override {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(::bind(listening_, reinterpret_cast<sockaddr*>(&at), size), 0);
    ASSERT_EQ(::listen(listening_, 64), 0);
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size);
    idem::config::upstream_config settings;
    settings.address.host = "127.0.0.1";
    settings.address.port = ntohs(at.sin_port);
    pool_ = std::make_shared<upstream_pool>(io_, wheel_, settings, nullptr, metrics_);
  }
  void TearDown() override {
    pool_->close_idle();
    wheel_.stop();
    io_.restart();
    io_.poll();
    for (const int fd : backend_) ::close(fd);
    ::close(listening_);
  }

  /// Opens one and leaves it idle; its backend's end is backend_.back().
  void idle(std::size_t count = 1) {
    std::vector<upstream_ptr> opened;
    for (; count > 0; --count) {
      std::optional<upstream_pool::outcome> made;
      idem::net::spawn(io_.get_executor(),
                       [](upstream_pool& from, std::optional<upstream_pool::outcome>& into) -> idem::net::task<void> {
                         into = co_await from.connect();
                       }(*pool_, made));
      ASSERT_TRUE(idem::test::eventually([&] {
        io_.restart();
        io_.poll();
        return made.has_value();
      }));
      ASSERT_TRUE(made->connection);
      backend_.push_back(::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC));
      opened.push_back(std::move(made->connection));
    }
    for (auto& c : opened) pool_->give_back(std::move(c));
  }
  enum class what { end, bytes };
  /// The kernel has it at our end then. The loop does not know: it is never run from here on.
  void backend_does(what now, std::size_t which) {
    const int fd = backend_[which];
    if (now == what::bytes) {
      ASSERT_EQ(::send(fd, "x", 1, MSG_NOSIGNAL), 1);
    } else {
      ASSERT_EQ(::shutdown(fd, SHUT_WR), 0);
    }
    ASSERT_TRUE(idem::test::eventually([&] { return arrived(now, fd); }));
  }
  static bool arrived(what sent, int fd) {
    if (sent == what::bytes) {
      int left = 1;
      return ::ioctl(fd, SIOCOUTQ, &left) == 0 && left == 0;
    }
    tcp_info info{};
    socklen_t size = sizeof info;
    return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == TCP_FIN_WAIT2;
  }
  /// A look holds for 100 µs.
  static void until_no_look_holds() {
    const auto now = std::chrono::steady_clock::now;
    EXPECT_TRUE(idem::test::eventually([&, end = now() + 100us] { return now() > end; }));
  }
  int port_of(const upstream_ptr& c) {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    ::getsockname(c->stream.lowest().native_handle(), reinterpret_cast<sockaddr*>(&at), &size);
    return at.sin_port;
  }
  int port_of(std::size_t which) {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    ::getpeername(backend_[which], reinterpret_cast<sockaddr*>(&at), &size);
    return at.sin_port;
  }

  asio::io_context io_{1};
  idem::net::deadline_wheel wheel_{io_};
  idem::telemetry::worker_block metrics_;
  std::shared_ptr<upstream_pool> pool_;
  int listening_ = -1;
  std::vector<int> backend_;
};

TEST_F(an_idle_connection, that_has_ended_is_found_by_a_look_before_the_loop_tells) {
  for (const auto how : {what::end, what::bytes}) {
    idle(2);
    backend_does(how, backend_.size() - 1);
    const auto c = pool_->take_idle(reuse::peeked);
    ASSERT_TRUE(c);
    EXPECT_EQ(port_of(c), port_of(backend_.size() - 2)) << "the last in is dead, the next one is not";
    EXPECT_FALSE(pool_->take_idle(reuse::peeked));
  }
}

TEST_F(an_idle_connection, is_taken_on_trust_where_only_the_watch_counts) {
  idle();
  backend_does(what::end, 0);
  EXPECT_TRUE(pool_->take_idle(reuse::watched));
}

TEST_F(an_idle_connection, that_a_look_has_found_dead_is_not_taken_on_trust_either) {
  idle(2);
  backend_does(what::end, 0);
  // a pool's first look takes in two
  EXPECT_TRUE(pool_->take_idle(reuse::peeked));
  EXPECT_FALSE(pool_->take_idle(reuse::watched));
}

TEST_F(an_idle_connection, of_many_is_looked_at_with_the_others_and_each_dead_one_is_found) {
  idle(40);
  for (std::size_t i = 0; i < 40; i += 3) backend_does(what::end, i);
  for (std::size_t i = 40; i-- > 0;) {
    if (i % 3 == 0) continue;
    const auto c = pool_->take_idle(reuse::peeked);
    ASSERT_TRUE(c) << i;
    EXPECT_EQ(port_of(c), port_of(i));
  }
  EXPECT_FALSE(pool_->take_idle(reuse::peeked));
}

TEST_F(an_idle_connection, is_looked_at_again_when_the_last_look_is_old) {
  idle(8);
  // the third take looks at four, so that three of those that stay were seen alive
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pool_->take_idle(reuse::peeked));
  until_no_look_holds();
  for (std::size_t i = 0; i < 5; ++i) backend_does(what::end, i);
  EXPECT_FALSE(pool_->take_idle(reuse::peeked));
}

TEST_F(an_idle_connection, that_was_used_meanwhile_is_looked_at_again) {
  idle();
  auto c = pool_->take_idle(reuse::peeked);
  ASSERT_TRUE(c);
  backend_does(what::end, 0);
  pool_->give_back(std::move(c));
  until_no_look_holds();
  EXPECT_FALSE(pool_->take_idle(reuse::peeked));
}

}  // namespace
