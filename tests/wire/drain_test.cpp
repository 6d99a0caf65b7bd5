// Connections when the process stops: who is served, and who is let go (docs/protocol.md, "Drain").
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "support/certificates.hpp"
#include "wire/wire.hpp"

namespace idem::test {
namespace {

constexpr int many = 24;
constexpr std::string_view last_ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

/// Once with plain connections of clients and once with TLS.
class stopping : public ::testing::TestWithParam<bool> {
 protected:
  stopping() {
    if (GetParam()) files_ = make_certificates(folder_, "proxy.test");
    s_ = std::make_unique<stage>(
        GetParam() ? "tls: {certificate: \"" + files_.certificate + "\", key: \"" + files_.key + "\"}" : "");
  }

  peer client() {
    auto c = s_->client();
    tls_settings t;
    t.ca = files_.ca;
    t.server_name = "proxy.test";
    if (GetParam()) EXPECT_TRUE(c.begin_tls(t, false)) << c.tls_fault();
    return c;
  }
  /// Connections that the proxy has accepted, each of which has had `served` answers.
  std::vector<peer> idle_clients(int served) {
    std::vector<peer> all;
    for (int i = 0; i < many; ++i) {
      all.push_back(client());
      if (served > 0) exchange(all.back());
    }
    EXPECT_TRUE(eventually([&] { return s_->proxy->metric("idempotency_proxy_connections") == many; }));
    return all;
  }
  void exchange(peer& c) {
    c.send(plain_get);
    if (!backend_.open()) backend_ = s_->backend.accept();
    EXPECT_EQ(backend_.read(plain_get.size()), plain_get);
    backend_.send(plain_ok);
    EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
  }
  /// The next `number` requests at the backend, unanswered.
  std::vector<peer> calls(int number) {
    std::vector<peer> all;
    if (backend_.open()) all.push_back(std::move(backend_));
    while (static_cast<int>(all.size()) < number) {
      all.push_back(s_->backend.accept(3s));
      if (!all.back().open()) break;
    }
    for (auto& b : all) EXPECT_EQ(b.read(plain_get.size()), plain_get);
    return all;
  }
  /// Once the stop has begun, all of them are answered, and the clients' connections end with that.
  void are_served(std::vector<peer>& clients) {
    auto at_backend = calls(static_cast<int>(clients.size()));
    EXPECT_TRUE(eventually([&] { return !s_->client().open(); })) << "nobody listens any more";
    for (auto& b : at_backend) b.send(plain_ok);
    for (auto& c : clients) {
      EXPECT_EQ(c.rest(), last_ok);
      EXPECT_EQ(c.ended(), peer::end::clean);
      c.close();
    }
    EXPECT_EQ(s_->proxy->wait_for_exit(5s), 0);
  }
  /// The requests are with the kernel when the stop begins; the proxy has not read them.
  void stop_with_requests_under_way(std::vector<peer>& clients) {
    s_->proxy->pause();
    for (auto& c : clients) c.send(plain_get);
    s_->proxy->terminate();
    s_->proxy->resume();
  }

  temporary_folder folder_;
  certificates files_;
  std::unique_ptr<stage> s_;
  peer backend_;
};
INSTANTIATE_TEST_SUITE_P(clients_on, stopping, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "tls" : "plain"; });

TEST_P(stopping, ends_idle_connections_orderly_and_at_once) {
  auto silent = idle_clients(0);
  exchange(silent.back());
  s_->proxy->terminate();
  for (auto& c : silent) {
    EXPECT_EQ(c.rest(), "");
    EXPECT_EQ(c.ended(), peer::end::clean);
    c.close();
  }
  EXPECT_EQ(s_->proxy->wait_for_exit(5s), 0);
}

TEST(stopping_before_a_word, ends_connections_at_once_where_a_handshake_or_a_proxy_header_is_still_to_come) {
  temporary_folder folder;
  const auto files = make_certificates(folder, "proxy.test");
  for (const std::string& settings : {"tls: {certificate: \"" + files.certificate + "\", key: \"" + files.key + "\"}",
                                      std::string("proxy_protocol: v1_v2")}) {
    stage s(settings);
    auto c = s.client();
    ASSERT_TRUE(eventually([&] { return s.proxy->metric("idempotency_proxy_connections") == 1; }));
    s.proxy->terminate();
    EXPECT_EQ(c.rest(), "") << settings;
    EXPECT_EQ(c.ended(), peer::end::clean);
    EXPECT_EQ(s.proxy->wait_for_exit(5s), 0);
  }
}

TEST_P(stopping, serves_a_first_request_that_is_under_way) {
  auto clients = idle_clients(0);
  stop_with_requests_under_way(clients);
  are_served(clients);
}

TEST_P(stopping, serves_another_request_of_a_kept_connection_that_is_under_way) {
  auto clients = idle_clients(1);
  stop_with_requests_under_way(clients);
  are_served(clients);
}

TEST_P(stopping, waits_for_the_rest_of_a_request_that_has_begun) {
  std::vector<peer> clients;
  clients.push_back(client());
  clients[0].send(plain_get.substr(0, 10));
  // the proxy has read what has come once it answers somebody who came later
  auto other = client();
  exchange(other);
  s_->proxy->terminate();
  EXPECT_EQ(other.rest(), "");
  other.close();
  clients[0].send(plain_get.substr(10));
  are_served(clients);
}

TEST(the_end_of_a_drain, cuts_what_still_runs_so_that_nobody_takes_it_for_whole) {
  stage s("timeouts: {drain: 500ms}");
  auto reader = s.client();
  reader.send("GET /x HTTP/1.0\r\nHost: a\r\n\r\n");  // it knows the end of the body by that of the connection
  auto b1 = s.backend.accept();
  b1.read(plain_get.size());
  b1.send("HTTP/1.1 200 OK\r\n\r\nhello");
  EXPECT_NE(reader.read_until("hello"), "");
  auto talker = s.client();
  talker.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: t\r\n\r\n");
  auto b2 = s.backend.accept();
  b2.read_head();
  b2.send("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: t\r\n\r\n");
  EXPECT_NE(talker.read_head(), "");
  s.proxy->terminate();
  for (auto* p : {&reader, &talker, &b2}) {
    EXPECT_EQ(p->rest(), "");
    EXPECT_EQ(p->ended(), peer::end::reset);
  }
  EXPECT_EQ(s.proxy->wait_for_exit(5s), 0);
}

TEST(the_end_of_a_drain, cuts_the_answers_that_their_readers_have_not_taken) {
  constexpr std::size_t size = 12 << 20;
  stage s("timeouts: {drain: 500ms}");
  s.settings.routes = {"{name: keyed, match: {path: /keyed}, idempotency: {max_stored_body: 16MiB}}"};
  s.proxy->reload(s.settings);
  const std::string rest = "Host: a\r\nAuthorization: t\r\nIdempotency-Key: e2\r\nContent-Length: 2\r\n\r\nhi";
  auto first = s.client(), again = s.client();
  first.small_window();
  again.small_window();
  first.send("POST /keyed HTTP/1.0\r\n" + rest);
  auto b = s.backend.accept();
  b.read_until("\r\n\r\nhi");
  EXPECT_TRUE(b.send("HTTP/1.1 200 OK\r\n\r\n" + std::string(size, 'z')));
  b.close();
  const auto is_stored = [&] {
    again.send("POST /keyed HTTP/1.1\r\n" + rest);
    return again.read_head().find("Idempotent-Replayed: true") != std::string::npos;
  };
  ASSERT_TRUE(eventually(is_stored));
  s.proxy->terminate();
  EXPECT_EQ(s.proxy->wait_for_exit(10s), 0);
  for (auto* c : {&first, &again}) {
    c->rest();
    EXPECT_EQ(c->ended(), peer::end::reset) << "half of it would be taken for all";
  }
}

TEST(the_end_of_a_drain, does_not_take_its_last_answers_back) {
  stage s("timeouts: {drain: 500ms}");
  auto c = s.client();
  c.send("POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: e1\r\nContent-Length: 2\r\n\r\nhi");
  auto b = s.backend.accept();
  b.read_until("\r\n\r\nhi");
  s.proxy->terminate();
  const auto all = c.rest();
  EXPECT_TRUE(is_last_problem(all, c, 502, "upstream-failed"));
  EXPECT_EQ(s.proxy->wait_for_exit(5s), 0);
}

TEST(a_process_that_stops, takes_up_no_configuration_any_more) {
  stage s;
  auto c = s.client();
  c.send(plain_get);
  auto b = s.backend.accept();
  b.read(plain_get.size());
  s.proxy->terminate();
  const auto says = [&](const char* what) {
    return eventually([&] { return s.proxy->log().find(what) != std::string::npos; });
  };
  ASSERT_TRUE(says("stopping: what runs is finished"));
  ::kill(s.proxy->pid(), SIGHUP);
  EXPECT_TRUE(says("the configuration is not read again"));
  b.send(plain_ok);
  EXPECT_EQ(c.rest(), last_ok);
  c.close();
  EXPECT_EQ(s.proxy->wait_for_exit(5s), 0);
  EXPECT_EQ(s.proxy->log().find("configuration taken up"), std::string::npos);
}

/// A pipe under a name, full, and open for reading by somebody who does not read.
class unread_log {
 public:
  explicit unread_log(std::string path) : path_(std::move(path)) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    fd_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const std::string page(4096, '\n');
    while (::write(fd_, page.data(), page.size()) > 0) continue;
  }
  ~unread_log() { ::close(fd_); }
  unread_log(const unread_log&) = delete;
  unread_log& operator=(const unread_log&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  int fd_ = -1;
};

TEST(a_process_that_stops, ends_though_nobody_reads_its_log) {
  const temporary_folder folder;
  const unread_log log((folder.path() / "log").string());
  const auto data = folder.path() / "data", admin = folder.path() / "admin";
  const auto file =
      folder.write("proxy.yaml", "server: {listen: [\"unix:" + data.string() +
                                     "\"], timeouts: {drain: 1s}}\nadmin: {listen: \"unix:" + admin.string() +
                                     "\"}\nupstream: {url: \"http://127.0.0.1:1\"}\n");
  child_process proxy({IDEM_BINARY, "run", "--config", file}, log.path());
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(admin); }));
  proxy.signal(SIGTERM);
  EXPECT_EQ(finish(proxy, 15s), 0) << "the drain, and 5 s for the log";
  EXPECT_FALSE(std::filesystem::exists(data)) << "all else is done as ever";
  EXPECT_FALSE(std::filesystem::exists(admin));
}

TEST(a_process_that_drains, says_so_once) {
  stage s;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(s.proxy->admin("/drain", "POST").status, 200);
  s.proxy->terminate();
  EXPECT_EQ(s.proxy->wait_for_exit(5s), 0);
  const auto log = s.proxy->log();
  const auto first = log.find("draining: not ready any more");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("draining: not ready any more", first + 1), std::string::npos) << log;
}

}  // namespace
}  // namespace idem::test
