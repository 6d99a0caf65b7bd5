#include <fcntl.h>
#include <gmock/gmock.h>
#include <ifaddrs.h>

#include <filesystem>

#include "idem/telemetry/metrics.hpp"
#include "support/exposition.hpp"
#include "unit/admin/admin_client.hpp"

namespace idem::admin {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto post_drain_request = "POST /drain HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";

TEST(admin_server, livez_is_ok) {
  running_server s;
  ASSERT_TRUE(s.start()) << s.message;
  client c(s.port());
  const auto answer = c.ask("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 200 OK");
  EXPECT_EQ(body_of(answer), "ok\n");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
}

TEST(admin_server, head_gets_the_head_alone) {
  running_server s;
  ASSERT_TRUE(s.start());
  const auto answer = client(s.port()).ask("HEAD /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 200 OK");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_EQ(body_of(answer), "");
}

TEST(admin_server, readyz_changes_with_the_state) {
  running_server s;
  ASSERT_TRUE(s.start());
  EXPECT_EQ(status_line(s.get("/readyz")), "HTTP/1.1 200 OK");
  s.set({true, true, true, false});
  const auto answer = s.get("/readyz");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 503 Service Unavailable");
  EXPECT_THAT(body_of(answer), HasSubstr("draining"));
}

TEST(admin_server, metrics_are_a_valid_exposition) {
  telemetry::registry registry(2);
  registry.route(0, "charges").count(telemetry::decision::executed);
  net::asio::io_context io(1);
  admin_server server(io, tcp("127.0.0.1", 0), {[] { return readiness{}; }, [&] { return registry.text(); }, [] {}});
  std::string message;
  ASSERT_FALSE(server.listen(message)) << message;
  server.start();
  std::thread thread([&] { io.run(); });
  const auto answer = client(server.port()).ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  io.stop();
  thread.join();
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  const auto page = test::read_metrics(body_of(answer));
  EXPECT_THAT(page.faults, IsEmpty());
  EXPECT_EQ(page.value("idempotency_proxy_requests_total", {{"route", "charges"}, {"decision", "executed"}}), 1);
}

TEST(admin_server, drain_is_a_post) {
  running_server s;
  ASSERT_TRUE(s.start());
  const auto refused = s.get("/drain");
  EXPECT_EQ(status_line(refused), "HTTP/1.1 405 Method Not Allowed");
  EXPECT_THAT(refused, HasSubstr("Allow: POST\r\n"));
  EXPECT_EQ(s.drains, 0);
  EXPECT_EQ(status_line(client(s.port()).ask(post_drain_request)), "HTTP/1.1 200 OK");
  EXPECT_EQ(s.drains, 1);
}

TEST(admin_server, more_endpoints_can_be_added) {
  running_server s;
  s.server.add({"POST", "/echo", [](const request& r) { return answer{200, std::string(r.body)}; }});
  ASSERT_TRUE(s.start());
  const auto answer = client(s.port()).ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(body_of(answer), "abc");
}

/// This machine's address on a network, if it has one: a connection to it comes from it.
std::optional<std::uint32_t> network_address() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::optional<std::uint32_t> found;
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in v4{};
    std::memcpy(&v4, one->ifa_addr, sizeof v4);
    const auto address = ntohl(v4.sin_addr.s_addr);
    if ((address >> 24) != 127) found = address;
  }
  ::freeifaddrs(all);
  return found;
}

TEST(admin_server, a_peer_from_a_network_may_look_but_not_drain) {
  const auto address = network_address();
  if (!address) GTEST_SKIP() << "this machine has no address but loopback";
  running_server s(tcp("0.0.0.0", 0));
  ASSERT_TRUE(s.start()) << s.message;
  EXPECT_EQ(status_line(client(s.port(), *address).ask("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")), "HTTP/1.1 200 OK");
  EXPECT_EQ(status_line(client(s.port(), *address).ask(post_drain_request)), "HTTP/1.1 403 Forbidden");
  EXPECT_EQ(s.drains, 0);
}

TEST(admin_server, what_is_no_request_or_too_large_is_refused_and_the_answer_arrives) {
  running_server s;
  ASSERT_TRUE(s.start());
  struct {
    std::string bytes;
    const char* status;
  } const cases[] = {
      {"nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request"},
      {"GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 400 Bad Request"},
      {"GET /livez HTTP/1.1\r\nA: " + std::string(200'000, 'a') + "\r\n\r\n",
       "HTTP/1.1 431 Request Header Fields Too Large"},
      {"POST /drain HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'b'),
       "HTTP/1.1 413 Payload Too Large"},
      {"POST /drain HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9000\r\n" + std::string(0x9000, 'b') +
           "\r\n0\r\n\r\n",
       "HTTP/1.1 413 Payload Too Large"},
  };
  for (const auto& one : cases) {
    client c(s.port());
    EXPECT_EQ(status_line(c.ask(one.bytes)), one.status) << one.bytes.substr(0, 40);
    EXPECT_TRUE(c.clean) << one.bytes.substr(0, 40);
  }
  EXPECT_EQ(s.drains, 0);
}

TEST(admin_server, a_silent_connection_is_closed_after_five_seconds) {
  running_server s;
  ASSERT_TRUE(s.start());
  client c(s.port());
  c.send("GET /livez HTTP/1.1\r\n");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(c.read_all(), "");
  EXPECT_TRUE(c.clean);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(took, std::chrono::seconds(4));
  EXPECT_LT(took, std::chrono::seconds(9));
}

TEST(admin_server, slow_peers_cannot_keep_a_probe_out) {
  running_server s;
  ASSERT_TRUE(s.start());
  std::vector<std::unique_ptr<client>> slow;
  for (int i = 0; i < 32; ++i) slow.push_back(std::make_unique<client>(s.port()));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(body_of(s.get("/livez")), "ok\n");
  EXPECT_EQ(slow.front()->read_all(), "");  // the oldest had to go
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_EQ(body_of(slow.back()->ask("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")), "ok\n");
}

TEST(admin_server, an_address_in_use_is_an_error_that_names_it) {
  running_server first;
  ASSERT_TRUE(first.start());
  running_server second(tcp("127.0.0.1", first.port()));
  EXPECT_FALSE(second.start());
  EXPECT_THAT(second.message, HasSubstr("127.0.0.1:" + std::to_string(first.port())));
  EXPECT_THAT(second.message, HasSubstr("in use"));
}

TEST(admin_server, a_name_that_does_not_exist_is_an_error) {
  running_server s(tcp("256.0.0.1", 0));
  EXPECT_FALSE(s.start());
  EXPECT_THAT(s.message, HasSubstr("256.0.0.1"));
}

TEST(admin_server, after_close_nobody_gets_in_and_nobody_stays) {
  running_server s;
  ASSERT_TRUE(s.start());
  const auto port = s.port();
  client open(port);
  EXPECT_EQ(body_of(s.get("/livez")), "ok\n");  // by now the first one is accepted
  s.close();
  EXPECT_EQ(open.read_all(), "");
  EXPECT_FALSE(client(port).connected());
}

class on_unix_socket : public testing::Test {
 protected:
  on_unix_socket() : folder(testing::TempDir() + "admin_test." + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder);
    path = folder + "/admin.sock";
  }
  ~on_unix_socket() override { std::filesystem::remove_all(folder); }

  std::string folder, path;
};

TEST_F(on_unix_socket, every_peer_is_local_and_the_file_goes_with_the_server) {
  {
    running_server s(unix_socket(path));
    ASSERT_TRUE(s.start()) << s.message;
    EXPECT_EQ(status_line(client(path).ask(post_drain_request)), "HTTP/1.1 200 OK");
    EXPECT_EQ(s.drains, 1);
    EXPECT_EQ(s.port(), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(on_unix_socket, a_dead_processes_file_is_replaced_but_a_living_ones_is_not) {
  const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
  ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ::close(dead);
  running_server first(unix_socket(path));
  EXPECT_TRUE(first.start()) << first.message;
  running_server second(unix_socket(path));
  EXPECT_FALSE(second.start());
  EXPECT_EQ(status_line(client(path).ask("GET /livez HTTP/1.1\r\n\r\n")), "HTTP/1.1 200 OK");
}

TEST_F(on_unix_socket, a_file_that_is_no_socket_is_left_alone) {
  ::close(::open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  running_server s(unix_socket(path));
  EXPECT_FALSE(s.start());
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST_F(on_unix_socket, a_path_too_long_is_an_error) {
  running_server s(unix_socket(folder + std::string(120, 'x')));
  EXPECT_FALSE(s.start());
  EXPECT_FALSE(s.message.empty());
}

}  // namespace
}  // namespace idem::admin
