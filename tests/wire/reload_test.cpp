// A new configuration under load: nobody notices but those whom it is for.
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "support/scripted_backend.hpp"
#include "wire/wire.hpp"

namespace idem::test {
namespace {

namespace fs = std::filesystem;

class reloads : public ::testing::Test {
 protected:
  reloads() {
    settings.upstream = backend.url();
    settings.routes = {"{name: keyed, match: {path: /keyed}}"};
    proxy = std::make_unique<proxy_process>(settings);
  }
  ~reloads() override { end_load(); }

  /// Three clients that keep their connections, and one that makes a new one for each request, half of it keyed.
  void begin_load() {
    for (int n = 0; n < 4; ++n) load.emplace_back([this, n] { one_client(n); });
  }
  void end_load() {
    stop = true;
    for (auto& t : load) t.join();
    load.clear();
  }

  void one_client(int n) {
    auto c = proxy->connect();
    for (int i = 0; !stop; ++i) {
      if (n == 0) c = proxy->connect();
      http_request r;
      r.target = i % 2 == 0 ? "/keyed" : "/x";
      r.with("Authorization", "t").with("Idempotency-Key", std::to_string(n) + "-" + std::to_string(i));
      r.body = "{}";
      const auto answer = c.exchange(r);
      ++done;
      if (answer.status == 200 && answer.whole() && answer.body == "ok") continue;
      ++failed;
      ADD_FAILURE() << "client " << n << ", request " << i << ": " << answer.status << " " << answer.fault;
      return;
    }
  }

  double count(const char* result) const {
    return proxy->metric("idempotency_proxy_config_reloads_total{result=\"" + std::string(result) + "\"}").value_or(-1);
  }
  bool signs_via() const {
    http_request r;
    r.method = "GET";
    return proxy->fetch(r).has("Via");
  }
  fs::path file() const { return proxy->folder().path() / "proxy.yaml"; }

  scripted_backend backend;
  proxy_settings settings;
  std::unique_ptr<proxy_process> proxy;
  std::atomic<bool> stop{false};
  std::atomic<int> done{0}, failed{0};
  std::vector<std::thread> load;
};

TEST_F(reloads, in_a_storm_of_signals_fail_no_request) {
  begin_load();
  const auto before = count("success");
  int signals = 0;
  EXPECT_TRUE(eventually(
      [&] {
        ::kill(proxy->pid(), SIGHUP);
        return ++signals >= 60 && done >= 200;
      },
      30s));
  EXPECT_TRUE(eventually([&] { return count("success") > before; }));
  const int so_far = done;
  EXPECT_TRUE(eventually([&] { return done > so_far + 20; }));
  end_load();
  EXPECT_EQ(failed, 0);
}

TEST_F(reloads, of_a_config_map_come_with_the_swap_of_its_link_and_a_bad_one_changes_nothing) {
  // as the kubelet lays it out: the file is a link into ..data, and ..data is a link that is replaced at once
  const auto folder = proxy->folder().path();
  const auto publish = [&](const std::string& version, const std::string& text) {
    fs::create_directory(folder / version);
    std::ofstream(folder / version / "proxy.yaml") << text;
    fs::create_directory_symlink(version, folder / "..data_tmp");
    fs::rename(folder / "..data_tmp", folder / "..data");
  };
  auto with_via = proxy->text();
  with_via.replace(with_via.find("server: {"), 9, "server: {via: true, ");
  publish("..v1", proxy->text());
  fs::create_symlink("..data/proxy.yaml", folder / "link");
  fs::rename(folder / "link", file());
  begin_load();
  EXPECT_FALSE(signs_via());

  publish("..v2", with_via);
  EXPECT_TRUE(eventually([&] { return signs_via(); }));
  const auto good = count("success");

  publish("..v3", "server: {listen: [}");
  EXPECT_TRUE(eventually([&] { return count("failure") > 0; }));
  EXPECT_EQ(proxy->metric("idempotency_proxy_config_last_reload_success"), 0);
  EXPECT_EQ(count("success"), good);
  EXPECT_TRUE(signs_via()) << "the configuration from before stays";

  publish("..v4", with_via + "# good again\n");
  EXPECT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_config_last_reload_success") == 1; }));
  end_load();
  EXPECT_EQ(failed, 0);
}

TEST_F(reloads, name_what_needs_a_restart_until_the_file_has_again_what_runs) {
  const auto named = [this](const proxy_settings& next) {
    const auto before = proxy->log().size();
    proxy->reload(next);
    return proxy->log().substr(before).find("\"server.threads\"") != std::string::npos;
  };
  auto next = settings;
  next.server_more = "threads: 5";
  EXPECT_TRUE(named(next));
  next.server_more = "threads: 5, via: on";
  EXPECT_TRUE(named(next)) << "it runs as before";
  EXPECT_FALSE(named(settings));
}

TEST_F(reloads, name_the_routes_whose_keys_are_new_and_what_made_them_so) {
  const auto before = proxy->log().size();
  auto next = settings;
  next.routes = {"{name: keyed, match: {path: /keyed}, idempotency: {namespace: other, scope: [\"const:x\"]}}"};
  proxy->reload(next);
  const auto log = proxy->log().substr(before);
  EXPECT_NE(log.find("keys that were used before are new now\",\"route\":\"keyed\",\"before\":\"keyed\",\"changed\":"
                     "\"namespace, scope\""),
            std::string::npos)
      << log;
  const auto quiet = proxy->log().size();
  proxy->reload(next);
  EXPECT_EQ(proxy->log().find("are new now", quiet), std::string::npos);
}

TEST_F(reloads, leave_a_request_in_flight_on_the_backend_that_it_went_to) {
  gate open;
  backend.on("/slow", held(open, reply(200, "first")));
  scripted_backend other;
  other.on("*", reply(200, "second"));
  auto c = proxy->connect();
  http_request r;
  r.method = "GET";
  r.target = "/slow";
  c.send(r);
  ASSERT_TRUE(backend.wait_for(1));
  auto next = settings;
  next.upstream = other.url();
  proxy->reload(next);
  r.target = "/x";
  EXPECT_EQ(proxy->fetch(r).body, "second");
  open.open();
  EXPECT_EQ(c.read().body, "first");
  EXPECT_EQ(c.exchange(r).body, "second") << "the next request on that connection goes to the new one";
}

TEST_F(reloads, hold_for_the_first_request_on_a_connection_that_was_idle_or_silent_till_then) {
  scripted_backend other;
  other.on("*", reply(200, "second"));
  settings.server_more = "threads: 1";
  proxy = std::make_unique<proxy_process>(settings);
  http_request r;
  r.method = "GET";
  auto idle = proxy->connect();
  EXPECT_EQ(idle.exchange(r).body, "ok");
  auto silent = proxy->connect();
  auto half = proxy->connect();
  half.send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(proxy->fetch(r).body, "ok") << "what came before on the only thread has been read";
  auto next = settings;
  next.upstream = other.url();
  proxy->reload(next);
  EXPECT_EQ(idle.exchange(r).body, "second");
  EXPECT_EQ(silent.exchange(r).body, "second");
  half.send("Host: a\r\n\r\n");
  EXPECT_EQ(half.read().body, "ok") << "it had begun before";
}

TEST(operation, of_a_draining_proxy_serves_on_and_says_close) {
  stage s;
  auto kept = s.client();
  kept.send(plain_get);
  auto b = s.backend.accept();
  b.read(plain_get.size());
  b.send(plain_ok);
  EXPECT_EQ(kept.read(plain_ok.size()), plain_ok);
  child_process drain({IDEM_BINARY, "drain", "--admin", "127.0.0.1:" + std::to_string(s.proxy->admin_port())});
  EXPECT_TRUE(eventually([&] { return !drain.running(); }));
  EXPECT_EQ(drain.stop(), 0);
  EXPECT_EQ(s.proxy->admin("/readyz").status, 503);
  const std::string last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
  auto fresh = s.client();
  for (auto* c : {&kept, &fresh}) {
    c->send(plain_get);
    EXPECT_EQ(b.read(plain_get.size()), plain_get);
    b.send(plain_ok);
    EXPECT_EQ(c->rest(), last);
    EXPECT_EQ(c->ended(), peer::end::clean);
  }
}

TEST(operation, of_a_stopping_proxy_serves_those_whom_it_had_not_accepted_yet) {
  stage s;
  s.proxy->pause();
  std::vector<peer> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(s.client());
    ASSERT_TRUE(clients.back().send(plain_get));
  }
  s.proxy->terminate();
  s.proxy->resume();
  std::vector<peer> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(s.backend.accept());
    ASSERT_TRUE(calls.back().open()) << i;
    EXPECT_EQ(calls.back().read(plain_get.size()), plain_get);
  }
  for (auto& b : calls) b.send(plain_ok);
  for (auto& c : clients) EXPECT_TRUE(c.rest().starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(s.proxy->wait_for_exit(), 0);
}

TEST(operation, on_an_address_in_use_ends_with_three) {
  host taken;
  proxy_process proxy(
      "server: {listen: [\"127.0.0.1:" + std::to_string(taken.port()) +
          "\"]}\nadmin: {listen: \"@ADMIN@\"}\nupstream: {url: \"http://127.0.0.1:1\"}\nroutes: [{name: "
          "api}]\n",
      false);
  EXPECT_EQ(proxy.wait_for_exit(), 3);
}

}  // namespace
}  // namespace idem::test
