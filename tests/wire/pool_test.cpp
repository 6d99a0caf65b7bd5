// Connections to the backend: when one is used again, and when never.
#include <vector>

#include "wire/wire.hpp"

namespace idem::test {
namespace {

class backend_connections : public on_stage {
 protected:
  /// One exchange that leaves an idle connection behind; the backend's end of it.
  static peer idle() {
    auto w = reach(plain_get);
    w.backend.send(plain_ok);
    EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
    return std::move(w.backend);
  }
};

TEST_F(backend_connections, are_used_again_by_any_client) {
  auto b = idle();
  for (const std::string request :
       {"GET /y HTTP/1.1\r\nHost: a\r\n\r\n", "POST /y HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
        "POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: p1\r\n"
        "Content-Length: 2\r\n\r\nhi"}) {
    auto c = client();
    c.send(request);
    EXPECT_EQ(b.read(request.size(), 1s), request);
    b.send(plain_ok);
    EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
  }
  EXPECT_TRUE(backend_untouched());
}

TEST(backend_connections_of_keyed_calls, serve_others_while_the_client_still_reads_its_answer) {
  constexpr std::size_t size = 8 << 20;
  stage s;
  s.settings.routes = {"{name: keyed, match: {path: /keyed}, idempotency: {max_stored_body: 16MiB}}"};
  s.proxy->reload(s.settings);
  auto c = s.client();
  c.small_window();
  c.send("POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: slow\r\nContent-Length: 2\r\n\r\nhi");
  auto b = s.backend.accept();
  b.read_until("\r\n\r\nhi");
  EXPECT_TRUE(
      b.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'z')));
  ASSERT_TRUE(eventually([&] { return s.proxy->metric("idempotency_proxy_upstream_idle").value_or(0) == 1; }));
  auto other = s.client();
  other.send(plain_get);
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
  b.send(plain_ok);
  EXPECT_EQ(other.read(plain_ok.size()), plain_ok);
  EXPECT_NE(c.read_head(), "");
  EXPECT_EQ(c.discard(100'000), 100'000u);
}

TEST_F(backend_connections, that_the_backend_has_closed_are_noticed_before_a_byte_is_sent) {
  for (const bool hard : {false, true}) {
    auto b = idle();
    if (hard) {
      b.reset();
    } else {
      b.half_close();  // its reading side stays open, so that a byte would arrive and be seen
    }
    auto w = reach("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
    w.backend.send(plain_ok);
    EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
    if (!hard) EXPECT_EQ(b.rest(1s), "") << "not a byte has gone to the dead one";
  }
}

TEST_F(backend_connections, that_die_without_an_answer_are_never_sent_the_request_again_elsewhere) {
  for (const std::string request :
       {"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
        "PATCH /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "DELETE /x HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: p2\r\n"
        "Content-Length: 2\r\n\r\nhi"}) {
    SCOPED_TRACE(request);
    auto b = idle();
    auto c = client();
    c.send(request);
    EXPECT_EQ(b.read(request.size(), 1s), request);
    b.close();
    EXPECT_TRUE(is_problem(c.read_head(), 502, "upstream-failed"));
    EXPECT_TRUE(backend_untouched(100ms)) << "it may have been executed";
  }
}

TEST_F(backend_connections, that_said_more_than_their_answer_are_not_used_again) {
  auto w = reach(plain_get);
  w.backend.send(std::string(plain_ok) + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  w.client.send(plain_get);
  auto fresh = s().backend.accept();
  EXPECT_EQ(fresh.read(plain_get.size()), plain_get);
  fresh.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  EXPECT_EQ(w.client.within(10ms), "");

  // and what comes while the connection is idle is found by the look before its use
  fresh.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
  w.client.send(plain_get);
  auto another = s().backend.accept();
  another.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
}

TEST_F(backend_connections, that_are_to_end_are_not_used_again) {
  for (const std::string answer : {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                                   "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"}) {
    auto w = reach(plain_get);
    w.backend.send(answer);
    EXPECT_EQ(w.client.read_head(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    w.client.send(plain_get);
    EXPECT_TRUE(s().backend.accept().open());
  }
}

TEST(backend_pool, closes_what_was_idle_for_too_long_and_keeps_no_more_than_it_may) {
  stage s({}, "keep_alive: {idle: 200ms, max_idle: 1}");
  std::vector<peer> clients, backends;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(s.client());
    clients.back().send(plain_get);
    backends.push_back(s.backend.accept());
    EXPECT_EQ(backends.back().read(plain_get.size()), plain_get);
  }
  for (auto& b : backends) b.send(plain_ok);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(backends[1].rest(), "");
  EXPECT_EQ(backends[1].ended(), peer::end::clean);
  EXPECT_EQ(backends[0].rest(), "");
  EXPECT_EQ(backends[0].ended(), peer::end::clean);
  EXPECT_GT(std::chrono::steady_clock::now() - began, 100ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
}

TEST(backend_pool, that_a_reload_replaces_leaves_no_connection_in_the_count) {
  stage s;
  const auto is = [&](const char* gauge, double value) {
    return eventually([&] { return s.proxy->metric(gauge) == value; });
  };
  {
    auto c = s.client();
    c.send(plain_get);
    auto b = s.backend.accept();
    EXPECT_EQ(b.read(plain_get.size()), plain_get);
    b.send(plain_ok);
    EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
    ASSERT_TRUE(is("idempotency_proxy_upstream_idle", 1));
    c.close();
    ASSERT_TRUE(is("idempotency_proxy_connections", 0));
    s.settings.upstream_more = "connect_timeout: 2s";
    s.proxy->reload(s.settings);
    EXPECT_EQ(b.rest(), "");
    EXPECT_EQ(b.ended(), peer::end::clean) << "nobody uses the old pool any more";
  }
  EXPECT_TRUE(is("idempotency_proxy_upstream_idle", 0));
}

TEST(backend_pool, tries_every_address_of_a_name) {
  host backend;  // on 127.0.0.1 alone, while localhost may be ::1 as well, and first
  proxy_settings settings;
  settings.upstream = "http://localhost:" + std::to_string(backend.port());
  const proxy_process proxy(settings);
  auto c = peer::connect(proxy.port());
  c.send(plain_get);
  auto b = backend.accept();
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
}

TEST(backend_pool, says_502_where_nobody_listens) {
  const auto port = host().port();
  proxy_settings settings;
  settings.upstream = "http://127.0.0.1:" + std::to_string(port);
  const proxy_process proxy(settings);
  auto c = peer::connect(proxy.port());
  c.send(plain_get);
  EXPECT_TRUE(is_problem(c.read_head(), 502, "upstream-unavailable"));
}

}  // namespace
}  // namespace idem::test
