// Routes that only observe: what passes is left alone, and what would have become of it is counted (docs/protocol.md,
// "Observing").
#include <algorithm>

#include "scenario/scenario.hpp"
#include "support/relay.hpp"

namespace idem::test {
namespace {

http_request chunked(const std::string& key, const std::string& body = "{\"amount\":1}") {
  auto r = charge(key, body);
  r.chunked = true;
  return r;
}

double counted(const proxy_process& p, const std::string& decision) {
  return p.metric("idempotency_proxy_requests_total{route=\"api\",decision=\"" + decision + "\"}").value_or(0);
}
::testing::AssertionResult counts(const proxy_process& p, const std::string& decision, double n) {
  if (eventually([&] { return counted(p, decision) == n; })) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << counted(p, decision) << " of " << decision << " instead of " << n;
}

class an_observed_request : public on_every_store {
 protected:
  ::testing::AssertionResult is_counted(const std::string& decision, double n = 1) const {
    return counts(*proxy, decision, n);
  }
  ::testing::AssertionResult claims_nothing() const {
    if (GetParam() == store::memory) return ::testing::AssertionSuccess();
    const auto names = shared_redis().command({"KEYS", "*"}).items;
    if (names.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "a record stands there: " << names[0].text;
  }
};
RUNS_ON_EVERY_STORE(an_observed_request);

TEST_P(an_observed_request, is_counted_as_what_it_would_have_come_to_however_its_body_is_framed) {
  start("mode: observe");
  EXPECT_TRUE(is_fresh(proxy->fetch(chunked("k")), 200));
  EXPECT_TRUE(is_counted("observed_execute"));
  EXPECT_TRUE(is_fresh(proxy->fetch(chunked("k")), 200));
  EXPECT_TRUE(is_counted("observed_replay"));
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_TRUE(is_counted("observed_replay", 2));
  EXPECT_TRUE(is_fresh(proxy->fetch(chunked("k", "{\"amount\":2}")), 200));
  EXPECT_TRUE(is_counted("observed_mismatch"));
  EXPECT_TRUE(is_fresh(post("k", "{\"amount\":2}"), 200));
  EXPECT_TRUE(is_counted("observed_mismatch", 2));
  EXPECT_EQ(backend.count("k"), 5u);
  EXPECT_EQ(backend.requests()[0].value("Transfer-Encoding"), "chunked") << "it is not framed anew";
}

TEST_P(an_observed_request, that_comes_in_pieces_is_compared_as_a_whole) {
  start("mode: observe, fingerprint: {headers: [X-Kind]}");
  const std::string body(100'000, 'x');
  const auto request = [&](const std::string& kind) { return charge("k", body).with("X-Kind", kind).bytes(); };
  for (const bool pieces : {true, false}) {
    auto client = proxy->connect();
    ASSERT_TRUE(pieces ? client.send_slices(request("a"), 7'000) : client.send(request("a")));
    EXPECT_TRUE(is_fresh(client.read(), 200));
    EXPECT_TRUE(is_counted(pieces ? "observed_execute" : "observed_replay"));
  }
  auto client = proxy->connect();
  ASSERT_TRUE(client.send_slices(request("b"), 7'000));
  EXPECT_TRUE(is_fresh(client.read(), 200));
  EXPECT_TRUE(is_counted("observed_mismatch")) << "its head's fields are compared though its head was overwritten";
}

TEST_P(an_observed_request, may_be_named_by_its_path_and_its_body) {
  auto s = settings();
  s.routes = {
      "{name: api, match: {path: \"/v1/{what}\"}, idempotency: {mode: observe, key: {from: "
      "[[\"path:{what}\", \"json:/id\"]]}}}"};
  start(s);
  for (const std::string decision : {"observed_execute", "observed_replay"}) {
    EXPECT_TRUE(is_fresh(proxy->fetch(chunked("", "{\"id\":1}")), 200));
    EXPECT_TRUE(is_counted(decision));
  }
  EXPECT_TRUE(is_fresh(post("", "{\"id\":2}"), 200));
  EXPECT_TRUE(is_counted("observed_execute", 2));
  EXPECT_TRUE(is_fresh(post("", "{\"other\":2}"), 200));
  EXPECT_TRUE(is_counted("passed")) << "without an id there is no key";
  EXPECT_TRUE(is_fresh(post("", "{\"id\":1,\"id\":2}"), 200));
  EXPECT_TRUE(is_counted("observed_other")) << "two ids would have been refused";
}

TEST_P(an_observed_request, whose_call_runs_keeps_its_key_for_longer_than_a_lease) {
  gate answer;
  backend.on("*", in_turn({held(answer, reply(201, "made")), reply(200, "other")}));
  start("mode: observe, lease: 1s");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_lease_renewals_total").value_or(0) >= 4; }));
  EXPECT_TRUE(is_fresh(proxy->fetch(chunked("k")), 200)) << "it does not wait";
  EXPECT_TRUE(is_counted("observed_in_progress"));
  answer.open();
  EXPECT_TRUE(is_fresh(first.get(), 201));
  EXPECT_TRUE(is_counted("observed_execute"));
}

TEST_P(an_observed_request, that_is_too_large_to_be_compared_passes_and_claims_nothing) {
  start("mode: observe, max_request_body: 1KiB");
  const std::string large(100'000, 'x');
  EXPECT_TRUE(is_fresh(post("k", large), 200));
  EXPECT_TRUE(is_counted("observed_other"));
  EXPECT_TRUE(is_fresh(proxy->fetch(chunked("k", large)), 200));
  EXPECT_TRUE(is_counted("observed_other", 2));
  ASSERT_EQ(backend.count("k"), 2u);
  for (const auto& r : backend.requests()) EXPECT_EQ(r.body, large);
  EXPECT_TRUE(claims_nothing());
}

TEST_P(an_observed_request, that_is_answered_before_it_is_whole_claims_nothing) {
  backend.on_head("*", raw(answer_bytes(401, "no")));
  start("mode: observe");
  for (const std::string framing : {"Content-Length: 9", "Transfer-Encoding: chunked"}) {
    auto client = proxy->connect();
    client.send("POST /v1/charges HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\n" + framing + "\r\n\r\n");
    const auto r = client.read();
    EXPECT_TRUE(is_fresh(r, 401)) << framing;
  }
  EXPECT_TRUE(is_counted("observed_other", 2));
  EXPECT_TRUE(claims_nothing());
}

TEST_P(an_observed_request, that_is_cut_claims_nothing) {
  start("mode: observe");
  auto client = proxy->connect();
  client.send("POST /v1/charges HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 9\r\n\r\nhalf");
  ASSERT_TRUE(eventually([&] { return backend.heads() == 1; }));
  client.reset();
  EXPECT_TRUE(is_counted("client_gone"));
  EXPECT_TRUE(claims_nothing());
}

TEST_P(an_observed_request, that_never_reached_the_backend_claims_nothing) {
  auto s = settings("mode: observe");
  s.upstream = "http://127.0.0.1:" + std::to_string(free_port());
  start(s);
  EXPECT_TRUE(is_problem(post("k"), 502, "upstream-unavailable"));
  EXPECT_TRUE(is_counted("upstream_unavailable"));
  EXPECT_TRUE(claims_nothing());
}

TEST_P(an_observed_request, that_becomes_a_tunnel_sets_its_key_free) {
  backend.on("*", raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"));
  start("mode: observe");
  auto client = proxy->connect();
  client.send(charge("k").with("Connection", "Upgrade").with("Upgrade", "x"));
  ASSERT_TRUE(client.wait_for("101 Switching"));
  EXPECT_TRUE(eventually([&] { return claims_nothing(); })) << "though the tunnel is open";
  client.reset();
  EXPECT_TRUE(is_counted("observed_execute"));
}

TEST_P(an_observed_request, that_would_have_been_refused_for_its_signature_claims_nothing) {
  auto s = settings();
  const temporary_folder folder;
  s.routes = {"{name: api, idempotency: {mode: observe, signature: {scheme: github, secret_file: \"" +
              folder.write("secret", "secret") + "\"}}}"};
  start(s);
  EXPECT_TRUE(is_fresh(proxy->fetch(chunked("k").with("X-Hub-Signature-256", "sha256=00")), 200));
  EXPECT_TRUE(is_counted("observed_other"));
  EXPECT_TRUE(claims_nothing());
}

TEST_P(an_observed_request, has_its_line_in_the_access_log_with_the_key) {
  start("mode: observe");
  EXPECT_TRUE(is_fresh(proxy->fetch(chunked("k")), 200));
  std::string line;
  const auto logged = [&] {
    const auto log = proxy->log();
    const auto at = log.find("\"decision\":\"observed_execute\"");
    if (at == log.npos) return false;
    const auto from = log.rfind('\n', at) + 1;
    line = log.substr(from, log.find('\n', at) - from);
    return true;
  };
  ASSERT_TRUE(eventually(logged));
  for (const std::string part : {"\"route\":\"api\"", "\"status\":200,", "\"bytes_in\":12,", "\"bytes_out\":2,"})
    EXPECT_NE(line.find(part), line.npos) << part << " is missing in " << line;
  const auto hash = line.find("\"key_hash\":\"");
  ASSERT_NE(hash, line.npos) << line;
  if (GetParam() == store::redis) EXPECT_EQ(record_name(), "idem:o:{" + line.substr(hash + 12, 43) + "}");
}

// ----------------------------------------------------------------------------------------------- a store that fails

class what_is_observed : public on_redis {
 protected:
  /// On a Redis of its own, or one behind a relay.
  void start_with(const std::string& policy, std::uint16_t redis_port, const std::string& redis_more) {
    auto s = settings(policy);
    s.redis_port = redis_port;
    s.redis_more = redis_more;
    start(s);
  }
  std::vector<std::string> records(const redis_server& redis) const {
    std::vector<std::string> all;
    for (const auto& name : redis.command({"KEYS", "*"}).items) all.push_back(redis.command({"GET", name.text}).text);
    return all;
  }
};

TEST_F(what_is_observed, passes_at_once_while_the_store_stands_still) {
  redis_server redis;
  start_with("mode: observe", redis.port(), "command_timeout: 3s");
  ASSERT_TRUE(is_fresh(post("warm"), 200));
  ASSERT_TRUE(counts(*proxy, "observed_execute", 1));
  redis.pause();
  const auto began = std::chrono::steady_clock::now();
  auto client = proxy->connect();
  constexpr int n = 20;
  for (int i = 0; i < n; ++i) {
    const auto key = "k" + std::to_string(i);
    EXPECT_TRUE(is_fresh(client.exchange(i % 2 == 0 ? charge(key) : chunked(key)), 200)) << "on one connection";
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1500ms) << "all of them in half of what one command may take";
  redis.resume();
  const auto decided = [&] { return counted(*proxy, "observed_execute") + counted(*proxy, "observed_other"); };
  EXPECT_TRUE(eventually([&] { return decided() == n + 1; })) << "each is counted once";
  // an attempt that nobody runs any more must not stay in the way
  EXPECT_TRUE(eventually([&] {
    const auto all = records(redis);
    return std::none_of(all.begin(), all.end(), [](const std::string& r) { return r[3] == 'P'; });
  }));
}

TEST_F(what_is_observed, leaves_nothing_behind_in_a_store_that_stood_still_for_longer_than_it_was_waited_for) {
  redis_server redis;
  start_with("mode: observe, lease: 1s", redis.port(), "command_timeout: 300ms, connect_timeout: 300ms");
  ASSERT_TRUE(is_fresh(proxy->fetch(charge("")), 200));
  redis.pause();
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_TRUE(counts(*proxy, "observed_other", 1));
  redis.resume();
  // the claim may land now, and nobody runs it
  EXPECT_TRUE(eventually([&] { return redis.calls("evalsha") + redis.calls("set") > 0 && records(redis).empty(); }));
}

TEST_F(what_is_observed, passes_at_once_while_the_store_is_gone_and_is_counted_as_undecided) {
  redis_server redis;
  start_with("mode: observe", redis.port(), "command_timeout: 300ms, connect_timeout: 300ms");
  ASSERT_TRUE(is_fresh(post("warm"), 200));
  ASSERT_TRUE(counts(*proxy, "observed_execute", 1));
  redis.kill();
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_TRUE(is_fresh(proxy->fetch(chunked("k")), 200));
  EXPECT_TRUE(counts(*proxy, "observed_other", 2));
}

TEST_F(what_is_observed, is_settled_though_its_answer_was_faster_than_the_store) {
  relay wire(shared_redis().port());
  start_with("mode: observe", wire.port(), "command_timeout: 5s, connect_timeout: 5s");
  wire.delay(100ms);
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_EQ(counted(*proxy, "observed_execute"), 0) << "nobody can know yet";
  EXPECT_TRUE(record_becomes('S'));
  EXPECT_TRUE(counts(*proxy, "observed_execute", 1));
  wire.delay(0ms);
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_TRUE(counts(*proxy, "observed_replay", 1));
}

TEST_F(what_is_observed, is_waited_for_by_a_drain) {
  relay wire(shared_redis().port());
  start_with("mode: observe", wire.port(), "command_timeout: 5s, connect_timeout: 5s");
  wire.delay(100ms);
  EXPECT_TRUE(is_fresh(post("k"), 200));
  proxy->terminate();
  EXPECT_EQ(proxy->wait_for_exit(), 0);
  EXPECT_EQ(record_state(), 'S');
  EXPECT_NE(proxy->log().find("\"decision\":\"observed_execute\""), std::string::npos);
}

TEST_F(what_is_observed, is_declared_when_the_end_of_a_drain_cuts_its_call) {
  backend.on("*", hang());
  auto s = settings("mode: observe");
  s.server_more = "timeouts: {drain: 300ms}";
  start(s);
  auto call = in_background([&] { return post("k"); });
  ASSERT_TRUE(record_becomes('P'));
  proxy->terminate();
  EXPECT_EQ(proxy->wait_for_exit(), 0);
  EXPECT_EQ(record_state(), 'U');
  call.get();
}

}  // namespace
}  // namespace idem::test
