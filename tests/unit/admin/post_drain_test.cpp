#include <gmock/gmock.h>

#include "unit/admin/admin_client.hpp"

namespace idem::admin {
namespace {

using testing::HasSubstr;

TEST(post_drain, drains_the_process_that_listens_there) {
  running_server s;
  ASSERT_TRUE(s.start());
  std::string message;
  EXPECT_EQ(post_drain(tcp("127.0.0.1", s.port()), message), 0) << message;
  EXPECT_EQ(s.drains, 1);
  EXPECT_EQ(message, "draining");
}

TEST(post_drain, reaches_a_listener_on_every_address_by_loopback) {
  running_server s(tcp("0.0.0.0", 0));
  ASSERT_TRUE(s.start());
  std::string message;
  EXPECT_EQ(post_drain(tcp("0.0.0.0", s.port()), message), 0) << message;
  EXPECT_EQ(s.drains, 1);
}

TEST(post_drain, goes_over_a_unix_socket) {
  const auto path = testing::TempDir() + "drain_test." + std::to_string(::getpid());
  running_server s(unix_socket(path));
  ASSERT_TRUE(s.start()) << s.message;
  std::string message;
  EXPECT_EQ(post_drain(unix_socket(path), message), 0) << message;
  EXPECT_EQ(s.drains, 1);
}

TEST(post_drain, says_that_nobody_listens) {
  std::uint16_t port = 0;
  {
    running_server s;
    ASSERT_TRUE(s.start());
    port = s.port();
  }
  std::string message;
  EXPECT_EQ(post_drain(tcp("127.0.0.1", port), message), 1);
  EXPECT_THAT(message, HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(message, HasSubstr("refused"));
}

TEST(post_drain, gives_up_on_a_listener_that_does_not_answer) {
  net::asio::io_context io;
  net::asio::ip::tcp::acceptor silent(io, {net::asio::ip::address_v4::loopback(), 0});
  std::string message;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(post_drain(tcp("127.0.0.1", silent.local_endpoint().port()), message), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_THAT(message, HasSubstr("within 2 s"));
}

TEST(post_drain, passes_a_refusal_on) {
  net::asio::io_context io;
  net::asio::ip::tcp::acceptor other(io, {net::asio::ip::address_v4::loopback(), 0});
  std::thread thread([&] {
    auto peer = other.accept();
    std::string request;
    net::asio::read_until(peer, net::asio::dynamic_buffer(request), "\r\n\r\n");
    net::asio::write(peer, net::asio::buffer(std::string("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nno\nx")));
  });
  std::string message;
  EXPECT_EQ(post_drain(tcp("127.0.0.1", other.local_endpoint().port()), message), 1);
  thread.join();
  EXPECT_THAT(message, HasSubstr("answered 404: no"));
}

}  // namespace
}  // namespace idem::admin
