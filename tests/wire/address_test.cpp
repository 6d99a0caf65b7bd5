// Where clients come from and how the backend learns it; unix sockets and IPv6 on both sides.
#include <filesystem>
#include <regex>

#include "wire/wire.hpp"

namespace idem::test {
namespace {

TEST(forwarded_addresses, go_to_the_backend_by_the_mode_that_is_configured) {
  stage s("forwarded: preserve");
  const std::string line = "GET /x HTTP/1.1\r\nHost: a.example\r\n";
  const std::string theirs = "X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-For: 8.8.8.8\r\nX-Forwarded-Proto: https\r\n";
  struct {
    std::string server, sent, got;
  } const table[] = {
      {"forwarded: preserve", line + theirs + "\r\n", line + theirs + "\r\n"},
      {"forwarded: append", line + "\r\n",
       line + "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a.example\r\n\r\n"},
      {"forwarded: append", line + theirs + "\r\n",
       line + "X-Forwarded-For: 9.9.9.9, 8.8.8.8, 127.0.0.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: "
              "a.example\r\n\r\n"},
      {"forwarded: replace", line + theirs + "\r\n",
       line + "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a.example\r\n\r\n"},
      {"forwarded: remove", line + theirs + "\r\n", line + "\r\n"},
      {"via: true", line + "Via: 1.0 b\r\n\r\n", line + "Via: 1.0 b\r\nVia: 1.1 idempotency-proxy\r\n\r\n"},
  };
  for (const auto& t : table) {
    SCOPED_TRACE(t.server);
    auto next = s.settings;
    next.server_more = "threads: 1, " + t.server;
    s.proxy->reload(next);
    auto c = s.client();
    c.send(t.sent);
    auto b = s.backend.accept();
    EXPECT_EQ(b.read_head(), t.got);
    b.send(plain_ok);
    EXPECT_EQ(c.read_head(), t.server.starts_with("via")
                                 ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nVia: 1.1 idempotency-proxy\r\n\r\n"
                                 : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
  }
}

const std::string v2_signature("\r\n\r\n\0\r\nQUIT\n", 12);

std::string v2(char command, char family, const std::string& rest) {
  return v2_signature + command + family + '\0' + static_cast<char>(rest.size()) + rest;
}

TEST(proxy_protocol, names_the_client_in_version_1_and_2) {
  stage s("proxy_protocol: v1_v2, forwarded: replace");
  const std::string v4("\x0a\x01\x02\x03\x7f\x00\x00\x01\x10\x00\x00\x50", 12);
  std::string v6(36, '\0');
  v6[0] = 0x20, v6[1] = 0x01, v6[2] = 0x0d, v6[3] = static_cast<char>(0xb8), v6[15] = 1;
  struct {
    std::string header, address;
  } const table[] = {
      {"PROXY TCP4 10.1.2.3 127.0.0.1 4096 80\r\n", "10.1.2.3"},
      {"PROXY TCP6 2001:DB8::1 ::1 4096 80\r\n", "2001:db8::1"},
      {"PROXY UNKNOWN\r\n", "127.0.0.1"},
      {v2('\x21', '\x11', v4), "10.1.2.3"},
      {v2('\x21', '\x21', v6), "2001:db8::1"},
      {v2('\x20', '\x00', {}), "127.0.0.1"},
  };
  for (const auto& t : table) {
    SCOPED_TRACE(t.address);
    for (const bool slowly : {false, true}) {
      auto c = s.client();
      if (slowly) {
        c.send_byte_by_byte(t.header + std::string(plain_get));
      } else {
        c.send(t.header + std::string(plain_get));
      }
      const auto head = s.backend.accept().read_head();
      EXPECT_NE(head.find("\r\nX-Forwarded-For: " + t.address + "\r\n"), std::string::npos) << head;
    }
  }
}

TEST(proxy_protocol, must_be_there_where_it_is_expected) {
  stage s("proxy_protocol: v1_v2, timeouts: {header: 300ms}");
  for (const std::string& bytes :
       {std::string(plain_get), std::string("PROXY TCP4 nonsense\r\n") + std::string(plain_get),
        v2('\x31', '\x11', std::string(12, 'x')) + std::string(plain_get), std::string("PROXY TCP4 ")}) {
    auto c = s.client();
    c.send(bytes);
    EXPECT_EQ(c.rest(), "") << "not HTTP yet, so there is nothing to answer";
    EXPECT_NE(c.ended(), peer::end::none);
  }
  EXPECT_FALSE(s.backend.accept(50ms).open());
}

TEST(proxy_protocol, is_refused_as_a_malformed_request_where_it_is_off) {
  stage s;
  for (const auto& header :
       {std::string("PROXY TCP4 10.1.2.3 127.0.0.1 4096 80\r\n"), v2('\x21', '\x11', std::string(12, '\x01'))}) {
    auto c = s.client();
    c.send(header + std::string(plain_get));
    c.half_close();
    const auto all = c.rest();
    EXPECT_TRUE(is_last_problem(all, c, 400, "malformed-request"));
  }
  EXPECT_FALSE(s.backend.accept(50ms).open()) << "nobody may claim another address";
}

TEST(unix_sockets, serve_clients_and_reach_backends) {
  const temporary_folder folder;
  const auto front = (folder.path() / "front").string(), back = (folder.path() / "back").string();
  host backend(back);
  proxy_settings settings;
  settings.upstream = backend.url();
  settings.listen_unix = front;
  settings.server_more = "forwarded: append";
  const proxy_process proxy(settings);
  auto c = peer::connect_unix(front);
  c.send(plain_get);
  auto b = backend.accept();
  const auto head = b.read_head();
  EXPECT_EQ(head,
            "GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: unknown\r\nX-Forwarded-Proto: http\r\n"
            "X-Forwarded-Host: a\r\n\r\n");
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
  c.send(plain_get);
  EXPECT_EQ(b.read_head(), head) << "the connection was kept";
}

/// A proxy on a unix socket that is started and ended by hand.
class on_a_path : public ::testing::Test {
 protected:
  on_a_path() {
    settings.upstream = backend.url();
    settings.listen_unix = path;
  }
  /// The exit status of another proxy on the same path, or nothing if it serves.
  std::optional<int> second() const {
    auto s = settings;
    s.wait_until_ready = false;
    proxy_process other(s);
    const auto status = other.wait_for_exit();
    EXPECT_NE(other.log().find("cannot listen on unix:" + path + ": Address already in use"), std::string::npos);
    other.kill();
    return status;
  }
  bool serves() {
    auto c = peer::connect_unix(path);
    if (!c.open() || !c.send(plain_get)) return false;
    auto b = backend.accept();
    return b.read(plain_get.size()) == plain_get && b.send(plain_ok) && c.read(plain_ok.size()) == plain_ok;
  }

  const temporary_folder folder;
  const std::string path = (folder.path() / "front").string();
  host backend;
  proxy_settings settings;
};

TEST_F(on_a_path, the_file_goes_with_an_orderly_end) {
  proxy_process proxy(settings);
  EXPECT_TRUE(serves());
  proxy.terminate();
  EXPECT_EQ(proxy.wait_for_exit(), 0);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(on_a_path, the_file_is_gone_while_calls_still_run_and_the_next_process_has_its_own) {
  settings.server_more = "timeouts: {drain: 20s}";
  proxy_process old(settings);
  auto c = peer::connect_unix(path);
  c.send(plain_get);
  auto b = backend.accept();
  b.read(plain_get.size());
  old.terminate();
  ASSERT_TRUE(eventually([&] { return !std::filesystem::exists(path); }));
  proxy_process next(settings);
  b.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_TRUE(c.rest().ends_with("ok"));
  EXPECT_EQ(old.wait_for_exit(), 0);
  EXPECT_TRUE(serves()) << "what stands there now is another's";
}

TEST_F(on_a_path, the_file_of_another_stays) {
  proxy_process proxy(settings);
  std::filesystem::remove(path);
  const host another(path);
  proxy.terminate();
  EXPECT_EQ(proxy.wait_for_exit(), 0);
  EXPECT_TRUE(std::filesystem::is_socket(path));
}

TEST_F(on_a_path, a_file_that_a_killed_process_left_is_taken_over) {
  {
    proxy_process killed(settings);
    killed.kill();
  }
  EXPECT_TRUE(std::filesystem::is_socket(path));
  const proxy_process proxy(settings);
  EXPECT_TRUE(serves());
}

TEST_F(on_a_path, a_second_process_is_refused_and_the_first_serves_on) {
  const proxy_process first(settings);
  EXPECT_EQ(second(), 3);
  EXPECT_TRUE(serves());
  first.pause();
  EXPECT_EQ(second(), 3) << "who is stopped is not gone";
  first.resume();
  EXPECT_TRUE(serves());
}

TEST_F(on_a_path, a_process_that_cannot_start_after_all_leaves_no_file) {
  const host admin;
  proxy_process proxy("server: {listen: [\"unix:" + path + "\"]}\nadmin: {listen: \"127.0.0.1:" +
                          std::to_string(admin.port()) + "\"}\nupstream: {url: \"" + backend.url() + "\"}\n",
                      false);
  EXPECT_EQ(proxy.wait_for_exit(), 3);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(unix_sockets, of_a_backend_that_is_slow_to_accept_are_waited_for_as_long_as_a_connection_may_take) {
  const temporary_folder folder;
  host backend((folder.path() / "back").string());
  backend.backlog(0);
  proxy_settings settings;
  settings.upstream = backend.url();
  settings.upstream_more = "connect_timeout: 10s";
  settings.routes = {"{name: keyed, match: {path: /keyed}}"};
  const proxy_process proxy(settings);
  settings.upstream_more = "connect_timeout: 200ms";
  const proxy_process hasty(settings);
  const auto first = peer::connect_unix((folder.path() / "back").string());  // nobody else may wait now
  for (const std::string& request :
       {std::string(plain_get), std::string("POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\n"
                                            "Idempotency-Key: b1\r\nContent-Length: 2\r\n\r\nhi")}) {
    auto c = peer::connect(hasty.port());
    c.send(request);
    const auto answer = c.read_until("}\n");
    EXPECT_TRUE(is_problem(answer, 502, "upstream-unavailable"));
    EXPECT_NE(answer.find("\"safe_new_key\":true"), std::string::npos) << "nothing was sent";
  }
  auto c = peer::connect(proxy.port());
  c.send(plain_get);
  EXPECT_EQ(c.within(100ms), "");
  EXPECT_TRUE(backend.accept().open());
  auto b = backend.accept();
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
}

TEST(unix_sockets, tell_of_clients_that_are_gone) {
  const temporary_folder folder;
  host backend;
  proxy_settings settings;
  settings.upstream = backend.url();
  settings.listen_unix = (folder.path() / "front").string();
  const proxy_process proxy(settings);
  auto c = peer::connect_unix(settings.listen_unix);
  c.send(plain_get);
  auto b = backend.accept();
  b.read_head();
  c.close();
  EXPECT_EQ(b.rest(3s), "");
  EXPECT_NE(b.ended(), peer::end::none) << "no half-close: nobody reads any more";
}

TEST(ipv6, serves_clients) {
  host backend;
  const proxy_process proxy(
      "server: {listen: [\"@LISTEN@\", \"[::1]:@PORT@\"], threads: 1, forwarded: replace}\nadmin: {listen: "
      "\"@ADMIN@\"}\n"
      "upstream: {url: \"" +
          backend.url() + "\"}\nroutes: [{name: api}]\n",
      false);
  auto c = peer::connect("::1", proxy.port());
  if (!eventually([&] { return c.open() || (c = peer::connect("::1", proxy.port())).open(); }, 3s)) {
    GTEST_SKIP() << "this machine has no ::1";
  }
  c.send(plain_get);
  auto b = backend.accept();
  const auto head = b.read_head();
  EXPECT_NE(head.find("\r\nX-Forwarded-For: ::1\r\n"), std::string::npos) << head;
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
}

TEST(ipv6, reaches_backends) {
  host backend("::1", 0);
  if (!backend.listening()) GTEST_SKIP() << "this machine has no ::1";
  proxy_settings settings;
  settings.upstream = backend.url();
  settings.server_more = "threads: 1";
  const proxy_process proxy(settings);
  auto c = peer::connect(proxy.port());
  c.send(plain_get);
  auto b = backend.accept();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(b.read(plain_get.size()), plain_get);
    b.send(plain_ok);
    EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
    if (i == 0) c.send(plain_get);
  }
}

TEST(addresses_with_port_0, are_logged_with_the_port_that_the_system_chose) {
  proxy_process proxy(
      "server: {listen: [\"127.0.0.1:0\", \"[::1]:0\"], threads: 1}\n"
      "admin: {listen: \"127.0.0.1:0\"}\n"
      "upstream: {url: \"http://127.0.0.1:1\"}\n",
      false);
  const std::regex line(R"re("address":"127\.0\.0\.1:(\d+), \[::1\]:(\d+)","admin":"127\.0\.0\.1:(\d+)")re");
  std::string log;
  std::smatch ports;
  ASSERT_TRUE(eventually([&] {
    log = proxy.log();
    return std::regex_search(log, ports, line);
  })) << log;
  EXPECT_NE(ports[2], "0");
  for (const auto& [port, status] : {std::pair(ports[1].str(), 502), std::pair(ports[3].str(), 404)}) {
    http_request r;
    r.method = "GET";
    http_client client(static_cast<std::uint16_t>(std::stoi(port)));
    EXPECT_EQ(client.exchange(r).status, status);
  }
  proxy.kill();
}

}  // namespace
}  // namespace idem::test
