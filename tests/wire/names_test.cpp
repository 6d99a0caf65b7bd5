// The backend's name, looked up again when its addresses change, and the store's. The proxy sees a hosts file of its
// own in place of the machine's: it runs in a mount namespace.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/redis_server.hpp"
#include "wire/wire.hpp"

namespace idem::test {
namespace {

/// What makes a mount namespace here; empty if nothing does.
std::string mount_namespace() {
  if (succeeds({"unshare", "--mount", "true"})) return "unshare --mount";
  if (succeeds({"unshare", "--user", "--map-root-user", "--mount", "true"}))
    return "unshare --user --map-root-user --mount";
  return {};
}

/// A hosts file, and the product as a program that knows no other.
class own_names : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto prefix = mount_namespace();
    if (prefix.empty()) GTEST_SKIP() << "unshare makes no mount namespace here: no hosts file of our own";
    program =
        folder.write("proxy", "#!/bin/sh\nexec " + prefix + " sh -c 'mount --bind \"$0\" /etc/hosts && exec \"$@\"' '" +
                                  hosts().string() + "' '" IDEM_BINARY "' \"$@\"\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }

  std::filesystem::path hosts() const { return folder.path() / "hosts"; }
  /// In place: the proxy has this very file.
  template <class... Addresses>
  void points_to(const Addresses&... addresses) const {
    std::ofstream file(hosts());
    ((file << addresses << " backend.test store.test\n"), ...);
  }

  temporary_folder folder;
  std::string program;
};

/// Two hosts with one port and two addresses, and a proxy that knows them by one name.
class names_of_backends : public own_names {
 protected:
  void SetUp() override {
    own_names::SetUp();
    if (IsSkipped()) return;
    first = std::make_unique<host>();
    second = std::make_unique<host>("127.0.0.2", first->port());
    ASSERT_TRUE(second->listening());
    points_to("127.0.0.1");
    settings.upstream = "http://backend.test:" + std::to_string(first->port());
    settings.server_more = "threads: 1";
    settings.binary = program;
    proxy = std::make_unique<proxy_process>(settings);
  }

  /// One request on connections of its own; whether it came to `expected`, which then answered it.
  bool reaches(host& expected) const {
    auto c = peer::connect(proxy->port());
    c.send(plain_get);
    auto b = expected.accept(200ms);
    if (!b.open()) return false;
    EXPECT_EQ(b.read(plain_get.size()), plain_get);
    b.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
    return true;
  }

  proxy_settings settings;
  std::unique_ptr<host> first, second;
  std::unique_ptr<proxy_process> proxy;
};

TEST_F(names_of_backends, are_looked_up_again_when_none_of_their_addresses_answers) {
  EXPECT_TRUE(reaches(*first));
  points_to("127.0.0.2");
  first.reset();
  auto c = peer::connect(proxy->port());
  c.send(plain_get);
  EXPECT_TRUE(is_problem(c.read_head(), 502, "upstream-unavailable"));
  EXPECT_TRUE(eventually([&] { return reaches(*second); }, 5s));
}

TEST_F(names_of_backends, are_served_by_an_address_that_answers_though_another_one_is_silent) {
  points_to("127.0.0.1", "127.0.0.2");
  first->backlog(0);
  const auto fills_it = peer::connect(first->port());
  const auto request = [&](peer::limit time) {
    auto c = peer::connect(proxy->port());
    c.send(plain_get);
    auto b = second->accept(time);
    if (!b.open()) return false;
    b.read_head();
    b.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    return c.read(plain_ok.size()) == plain_ok;
  };
  ASSERT_TRUE(request(2s));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(request(250ms)) << "who has answered is asked first";
}

TEST_F(names_of_backends, are_looked_up_again_after_half_a_minute_and_not_before) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(reaches(*first));
  points_to("127.0.0.2");
  bool moved = false;
  const auto late = [&] { return std::chrono::steady_clock::now() - began > 45s; };
  while (!moved && !late()) {
    std::this_thread::sleep_for(250ms);
    moved = !reaches(*first);
  }
  EXPECT_TRUE(moved);
  second->clear();
  EXPECT_GT(std::chrono::steady_clock::now() - began, 30s);
  EXPECT_TRUE(reaches(*second));
}

TEST_F(names_of_backends, stay_known_when_a_reload_changes_how_they_are_reached) {
  EXPECT_TRUE(reaches(*first));
  points_to();
  settings.upstream_more = "connect_timeout: 900ms";
  proxy->reload(settings);
  EXPECT_TRUE(reaches(*first)) << "a look-up now would fail";
}

using names_of_stores = own_names;

TEST_F(names_of_stores, are_reached_at_an_address_that_answers_though_another_one_is_silent) {
  redis_server redis;
  host silent("::1", redis.port());  // resolvers put it first
  if (!silent.listening()) GTEST_SKIP() << "no IPv6 here";
  silent.backlog(0);
  const auto fills_it = peer::connect("::1", silent.port());
  points_to("::1", "127.0.0.1");
  proxy_settings settings;
  settings.upstream = "http://127.0.0.1:9";
  settings.redis_host = "store.test";
  settings.redis_port = redis.port();
  settings.binary = program;
  const proxy_process proxy(settings);
  EXPECT_TRUE(eventually([&] { return proxy.metric("idempotency_proxy_store_up") == 1; }));
}

/// A store whose name the servers of names never answer for, and a backend whose name the machine knows itself.
class a_name_that_nobody_answers_for : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto prefix = mount_namespace();
    silent = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(53);
    at.sin_addr.s_addr = htonl(0x7f000935);  // 127.0.9.53
    if (prefix.empty() || ::bind(silent, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0)
      GTEST_SKIP() << "no server of names can be put into the machine's place here";
    const auto hosts = folder.write("hosts", "127.0.0.1 backend.test\n");
    const auto servers = folder.write("resolv.conf", "nameserver 127.0.9.53\noptions timeout:30 attempts:2\n");
    const auto program = folder.write("proxy", "#!/bin/sh\nexec " + prefix + " sh -c 'mount --bind " + hosts +
                                                   " /etc/hosts && mount --bind " + servers +
                                                   " /etc/resolv.conf && exec \"$@\"' sh '" IDEM_BINARY "' \"$@\"\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    proxy = std::make_unique<proxy_process>(
        "server: {listen: ['@LISTEN@'], threads: 1}\n"
        "admin: {listen: '@ADMIN@'}\n"
        "upstream: {url: 'http://backend.test:" +
            std::to_string(backend.port()) +
            "'}\n"
            "store: {type: redis, redis: {url: 'redis://store.test:6379'}}\n"
            "routes: [{name: api}]\n",
        true, program);
  }
  void TearDown() override { ::close(silent); }

  temporary_folder folder;
  host backend;
  int silent = -1;
  std::unique_ptr<proxy_process> proxy;
};

TEST_F(a_name_that_nobody_answers_for, holds_up_neither_the_start_nor_other_names_nor_the_end) {
  auto c = peer::connect(proxy->port());
  c.send(plain_get);
  auto b = backend.accept();
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
  proxy->terminate();
  EXPECT_EQ(proxy->wait_for_exit(5s), 0);
}

}  // namespace
}  // namespace idem::test
