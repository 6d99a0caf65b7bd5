// Upgrades (RFC 9110 §7.8): a tunnel, but only after 101.
#include <openssl/ssl.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "support/certificates.hpp"
#include "wire/wire.hpp"

namespace idem::test {
namespace {

class upgrades : public on_stage {
 protected:
  static way ask() {
    const std::string request =
        "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nConnection: Upgrade\r\n\r\n";
    auto w = reach(
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: k\r\n\r\n",
        request.size());
    EXPECT_EQ(w.request, request);
    return w;
  }
  static constexpr std::string_view yes =
      "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: v\r\nConnection: Upgrade\r\n\r\n";
};

TEST_F(upgrades, become_a_tunnel_after_101) {
  auto w = ask();
  w.backend.send(std::string(yes) + "first");
  EXPECT_EQ(w.client.read(yes.size()), yes);
  EXPECT_EQ(w.client.read(5), "first") << "bytes that came with the 101";
  const std::string up("\x00\xff GET / HTTP/1.1\r\n\r\n", 21);
  w.client.send(up);
  EXPECT_EQ(w.backend.read(up.size()), up);
  const std::string down(100'000, '\r');
  w.backend.send(down);
  EXPECT_EQ(w.client.read(100'000), down);
}

TEST_F(upgrades, pass_a_half_close_on_in_both_directions) {
  auto w = ask();
  w.backend.send(yes);
  w.client.read(yes.size());
  w.client.send("bye");
  w.client.half_close();
  EXPECT_EQ(w.backend.rest(), "bye");
  EXPECT_EQ(w.backend.ended(), peer::end::clean);
  w.backend.send("still here");
  EXPECT_EQ(w.client.read(10), "still here");
  w.backend.close();
  EXPECT_EQ(w.client.rest(), "");
  EXPECT_EQ(w.client.ended(), peer::end::clean);
}

/// The 101 comes before the body of the request that asked for it.
class early_upgrades : public upgrades {
 protected:
  static way switch_before_the_body(const std::string& framing) {
    const std::string request =
        "POST /ws HTTP/1.1\r\nHost: a\r\n" + framing + "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    auto w = reach(request);
    EXPECT_EQ(w.request, request);
    w.backend.send(yes);
    EXPECT_EQ(w.client.read(yes.size()), yes);
    return w;
  }
};

TEST_F(early_upgrades, have_the_body_before_what_the_client_says_in_the_tunnel) {
  for (const auto& [framing, body] :
       {std::pair<std::string, std::string>{"Content-Length: 5\r\n", "hello"},
        std::pair<std::string, std::string>{"Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"}}) {
    SCOPED_TRACE(framing);
    auto w = switch_before_the_body(framing);
    w.backend.send("down");
    EXPECT_EQ(w.client.read(4), "down") << "this direction has begun";
    w.client.send(body + "up");
    EXPECT_EQ(w.backend.read(body.size() + 2), body + "up");
    w.client.send("more");
    EXPECT_EQ(w.backend.read(4), "more");
    w.client.half_close();
    EXPECT_EQ(w.backend.rest(), "");
    EXPECT_EQ(w.backend.ended(), peer::end::clean);
  }
}

TEST_F(early_upgrades, of_which_the_body_never_comes_whole_do_not_end_orderly) {
  auto w = switch_before_the_body("Content-Length: 5\r\n");
  w.client.send("he");
  EXPECT_EQ(w.backend.read(2), "he");
  w.client.half_close();
  EXPECT_EQ(w.backend.rest(), "");
  EXPECT_EQ(w.backend.ended(), peer::end::reset);
}

TEST(an_early_upgrade, is_not_cut_by_the_limit_of_bodies) {
  stage s("timeouts: {body_idle: 200ms}");
  auto c = s.client();
  c.send("POST /ws HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
  auto b = s.backend.accept();
  b.read_head();
  b.send("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
  EXPECT_TRUE(c.read_head().starts_with("HTTP/1.1 101"));
  EXPECT_EQ(c.within(500ms), "");
  EXPECT_EQ(c.ended(), peer::end::none);
  c.send("he");
  EXPECT_EQ(b.read(2), "he");
  EXPECT_EQ(c.within(500ms), "");
  EXPECT_EQ(c.ended(), peer::end::none);
  c.send("lloup");
  EXPECT_EQ(b.read(5), "lloup");
}

TEST_F(upgrades, that_are_cut_do_not_end_orderly_at_the_other_side) {
  for (const bool by_client : {true, false}) {
    auto w = ask();
    w.backend.send(yes);
    w.client.read(yes.size());
    auto& leaves = by_client ? w.client : w.backend;
    auto& stays = by_client ? w.backend : w.client;
    leaves.send("half a mess");
    EXPECT_EQ(stays.read(11), "half a mess");
    leaves.reset();
    EXPECT_EQ(stays.rest(), "");
    EXPECT_EQ(stays.ended(), peer::end::reset);
  }
}

/// How many of the connections that are accepted on a port are probed by the kernel while they are silent.
int probed_connections(std::uint16_t port) {
  std::ifstream table("/proc/net/tcp");
  std::string line, at, local, remote, state, queues, timer;
  int n = 0;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream(line) >> at >> local >> remote >> state >> queues >> timer;
    const bool ours = std::stoul(local.substr(local.find(':') + 1), nullptr, 16) == port;
    n += ours && state == "01" && timer.starts_with("02:");
  }
  return n;
}

TEST_F(upgrades, are_probed_while_they_are_silent_for_they_have_no_limit_of_time) {
  auto w = ask();
  EXPECT_EQ(probed_connections(s().proxy->port()), 0);
  w.backend.send(yes);
  EXPECT_EQ(w.client.read(yes.size()), yes);
  EXPECT_TRUE(eventually([] { return probed_connections(s().proxy->port()) == 1; }));
}

TEST_F(upgrades, that_the_backend_declines_are_usual_exchanges) {
  auto w = ask();
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  w.client.send(plain_get);
  EXPECT_EQ(w.backend.read(plain_get.size()), plain_get) << "both connections go on";
}

TEST_F(upgrades, to_what_carries_http_are_not_made_for_its_requests_would_go_past_the_routes) {
  for (const std::string answer : {"Upgrade: h2c", "Upgrade: H2C", "Upgrade: foo,h2c", "Upgrade: foo\r\nUpgrade: h2c",
                                   "Upgrade: TLS/1.0, HTTP/1.1", "X-No: upgrade"}) {
    SCOPED_TRACE(answer);
    auto w = ask();
    w.backend.send("HTTP/1.1 101 Switching\r\n" + answer + "\r\nConnection: Upgrade\r\n\r\n");
    EXPECT_TRUE(is_problem(w.client.read_head(), 502, "upstream-failed"));
    w.client.send("POST /keyed HTTP/1.1\r\n\r\n");
    EXPECT_EQ(w.backend.rest(), "");
  }
}

/// Routes that hear GET and POST: one that keeps answers by key, and one whose requests must be signed.
class upgrades_on_routes : public ::testing::Test {
 protected:
  upgrades_on_routes() {
    const auto secret = s.proxy->folder().write("secret", "secret");
    s.settings.routes = {
        "{name: keyed, match: {path: /keyed, methods: [GET, POST]}}",
        "{name: signed, match: {path: /signed, methods: [GET, POST]}, idempotency: {signature: {scheme: "
        "github, secret_file: \"" +
            secret + "\"}}}",
        "{name: observed, match: {path: /observed}, idempotency: {mode: observe}}"};
    s.proxy->reload(s.settings);
  }
  static std::string request(const std::string& line, const std::string& fields) {
    return line + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
  }
  static std::string wish(const std::string& protocol) {
    return "Upgrade: " + protocol + "\r\nConnection: Upgrade\r\n";
  }
  static constexpr auto key = "Idempotency-Key: u1\r\nAuthorization: t\r\n";

  /// One execution, then a replay: the wish is not passed on.
  void is_kept_once(const std::string& line, const std::string& protocol, const std::string& its_key) {
    SCOPED_TRACE(line + " " + protocol);
    const auto fields = "Idempotency-Key: " + its_key + "\r\nAuthorization: t\r\nContent-Length: 0\r\n";
    auto first = s.client(), second = s.client();
    first.send(request(line, fields + wish(protocol)));
    auto b = s.backend.accept();
    const auto expected = request(line, fields);
    EXPECT_EQ(b.read(expected.size()), expected);
    b.send(plain_ok);
    EXPECT_EQ(first.read(plain_ok.size()), plain_ok);
    second.send(request(line, fields + wish(protocol)));
    EXPECT_NE(second.read_until("\r\n\r\nok").find("Idempotent-Replayed: true"), std::string::npos);
    b.close();
  }

  stage s;
};

TEST_F(upgrades_on_routes, are_ignored_for_all_but_a_get_and_never_a_way_around_the_key) {
  is_kept_once("POST /keyed", "h2c", "u1");
  is_kept_once("POST /keyed", "websocket", "u2");
  is_kept_once("GET /keyed", "h2c", "u3");
}

TEST_F(upgrades_on_routes, pass_for_a_get_and_are_not_keyed) {
  for (int i = 0; i < 2; ++i) {
    auto c = s.client();
    const auto asked = request("GET /keyed", key + wish("websocket"));
    c.send(asked);
    auto b = s.backend.accept();
    EXPECT_EQ(b.read(asked.size()), asked) << "each of them reaches the backend";
    b.send(plain_ok);
    EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
    b.close();
  }
}

TEST_F(upgrades_on_routes, that_only_observe_pass_as_they_came_and_are_counted) {
  const auto observed = [this] {
    return s.proxy->metric("idempotency_proxy_requests_total{route=\"observed\",decision=\"observed_execute\"}")
        .value_or(0);
  };
  const auto before = observed();
  auto c = s.client();
  const auto fields = std::string(key) + "Content-Length: 0\r\n";
  const auto asked = request("POST /observed", fields + wish("h2c"));
  c.send(asked);
  auto b = s.backend.accept();
  EXPECT_EQ(b.read(asked.size()), asked);
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
  EXPECT_TRUE(eventually([&] { return observed() == before + 1; }));
}

TEST_F(upgrades_on_routes, are_no_way_around_a_signature) {
  for (const std::string line : {"GET /signed", "POST /signed"}) {
    SCOPED_TRACE(line);
    auto c = s.client();
    c.send(request(line, wish("websocket") + "Content-Length: 0\r\n"));
    EXPECT_TRUE(is_problem(c.read_head(), 401, "bad-signature"));
  }
  EXPECT_FALSE(s.backend.accept(50ms).open());
}

// ---------------------------------------------------------------------------------------------------------------- TLS

/// Tunnels of which one side speaks TLS, of the version that is the parameter.
class tunnels_over_tls : public ::testing::TestWithParam<int> {
 protected:
  static constexpr std::string_view question =
      "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n";
  static constexpr std::string_view yes = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n";

  tunnels_over_tls() : files(make_certificates(folder, "peer.test")) {}

  void open_from_tls_client() {
    s = std::make_unique<stage>("tls: {certificate: \"" + files.certificate + "\", key: \"" + files.key + "\"}");
    client = s->client();
    tls_settings t;
    t.ca = files.ca;
    t.server_name = "peer.test";
    t.most = GetParam();
    ASSERT_TRUE(client.begin_tls(t, false)) << client.tls_fault();
    client.send(question);
    backend = s->backend.accept();
    switch_protocols();
  }
  void open_to_tls_backend() {
    s = std::make_unique<stage>("", "tls: {ca: \"" + files.ca + "\", server_name: peer.test}", "https://");
    client = s->client();
    client.send(question);
    backend = s->backend.accept();
    tls_settings t;
    t.certificate = files.certificate;
    t.key = files.key;
    t.most = GetParam();
    ASSERT_TRUE(backend.begin_tls(t, true)) << backend.tls_fault();
    switch_protocols();
  }
  void switch_protocols() {
    EXPECT_EQ(backend.read(question.size()), question);
    backend.send(yes);
    EXPECT_EQ(client.read(yes.size()), yes);
  }

  /// `ends` has nothing more to say; `goes_on` says a lot, to its end.
  static void half_close_and_go_on(peer& ends, peer& goes_on, bool ends_speaks_tls) {
    ends.send("bye");
    ends_speaks_tls ? ends.end_tls() : ends.half_close();
    EXPECT_EQ(goes_on.rest(), "bye");
    EXPECT_EQ(goes_on.ended(), peer::end::clean);
    const std::string much(4 << 20, 'x');
    std::thread sender([&] {
      EXPECT_TRUE(goes_on.send(much + "end"));
      ends_speaks_tls ? goes_on.half_close() : goes_on.end_tls();
    });
    EXPECT_EQ(ends.discard(much.size(), 20s), much.size());
    EXPECT_EQ(ends.rest(), "end");
    EXPECT_EQ(ends.ended(), peer::end::clean) << "on TLS: with close_notify";
    sender.join();
  }

  temporary_folder folder;
  certificates files;
  std::unique_ptr<stage> s;
  peer client, backend;
};
INSTANTIATE_TEST_SUITE_P(version, tunnels_over_tls, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](const auto& p) { return p.param == TLS1_2_VERSION ? "1_2" : "1_3"; });

TEST_P(tunnels_over_tls, pass_on_the_half_close_of_a_client_and_all_that_its_backend_still_sends) {
  open_from_tls_client();
  half_close_and_go_on(client, backend, true);
}

TEST_P(tunnels_over_tls, pass_on_the_half_close_of_a_backend_to_a_client_and_all_that_it_still_sends) {
  open_from_tls_client();
  half_close_and_go_on(backend, client, false);
}

TEST_P(tunnels_over_tls, pass_on_the_half_close_of_a_backend_and_all_that_its_client_still_sends) {
  open_to_tls_backend();
  half_close_and_go_on(backend, client, true);
}

TEST_P(tunnels_over_tls, pass_on_the_half_close_of_a_client_to_a_backend_and_all_that_it_still_sends) {
  open_to_tls_backend();
  half_close_and_go_on(client, backend, false);
}

// a half-close that comes while the other direction is full of bytes
TEST_P(tunnels_over_tls, lose_nothing_that_is_under_way_when_a_side_half_closes) {
  open_from_tls_client();
  constexpr std::size_t size = 8 << 20;
  std::thread sender([&] {
    EXPECT_TRUE(backend.send(std::string(size, 'x')));
    backend.half_close();
  });
  EXPECT_EQ(client.discard(1000), 1000U);
  client.end_tls();
  EXPECT_EQ(client.discard(size - 1000, 20s), size - 1000);
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(client.ended(), peer::end::clean);
  sender.join();
  EXPECT_EQ(backend.rest(), "");
  EXPECT_EQ(backend.ended(), peer::end::clean);
}

TEST_P(tunnels_over_tls, that_are_cut_do_not_end_orderly_at_the_other_side) {
  open_from_tls_client();
  client.half_close();  // of TCP, without close_notify
  EXPECT_EQ(backend.rest(), "");
  EXPECT_EQ(backend.ended(), peer::end::reset);

  open_from_tls_client();
  backend.reset();
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(client.ended(), peer::end::reset);

  open_to_tls_backend();
  backend.half_close();
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(client.ended(), peer::end::reset);
}

}  // namespace
}  // namespace idem::test
