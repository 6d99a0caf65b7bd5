// Clients that leave, stall or send too much: the call is detached from them once the key is claimed.
#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

class a_client : public on_every_store {
 protected:
  /// The retry replays as soon as the call that nobody waits for has ended; until then it is in progress.
  http_response retried(const std::string& key) {
    http_response r;
    EXPECT_TRUE(eventually([&] {
      r = post(key);
      return r.status != 409;
    }));
    return r;
  }
};
RUNS_ON_EVERY_STORE(a_client);

TEST_P(a_client, that_hangs_up_finds_its_answer_on_the_retry) {
  start();
  for (const bool resets : {false, true}) {
    gate answer;
    const std::string key = resets ? "reset" : "closed";
    backend.on("*", held(answer, reply(201, "made for " + key)));
    auto client = proxy->connect();
    client.send(charge(key));
    ASSERT_TRUE(backend.wait_for(key));
    if (resets) {
      client.reset();
    } else {
      client.close();
    }
    EXPECT_TRUE(is_problem(post(key), 409, "in-progress"));
    answer.open();
    const auto r = retried(key);
    EXPECT_EQ(r.status, 201);
    EXPECT_EQ(r.body, "made for " + key);
    EXPECT_TRUE(r.has("Idempotent-Replayed"));
    EXPECT_EQ(backend.count(key), 1u);
  }
}

TEST_P(a_client, that_goes_while_the_answer_streams_finds_all_of_it) {
  gate rest;
  backend.on("*", both(raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcde"), held(rest, raw("fghij"))));
  start();
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(client.wait_for("abcd"));
  client.reset();
  rest.open();
  const auto r = retried("k");
  EXPECT_TRUE(r.has("Idempotent-Replayed"));
  EXPECT_EQ(r.body, "abcdefghij");
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_client, that_half_closes_gets_its_answer) {
  backend.on("*", delayed(100ms, reply(201, "made")));
  start();
  auto client = proxy->connect();
  client.send(charge("k"));
  client.half_close();
  EXPECT_TRUE(is_fresh(client.read(), 201));
}

TEST_P(a_client, that_goes_before_its_request_is_whole_leaves_the_key_free) {
  start();
  const auto bytes = charge("k").bytes();
  for (const std::size_t sent : {std::size_t{10}, bytes.size() - 5, bytes.size() - 1}) {
    auto client = proxy->connect();
    client.send(bytes.substr(0, sent));
    client.reset();
  }
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_client, that_reads_nothing_does_not_slow_the_capture) {
  const std::string large(3 * 1024 * 1024, 'x');
  backend.on("*", reply(200, large, {}, framing::chunked));
  start("max_stored_body: 4MiB");
  auto lazy = proxy->connect();
  lazy.send(charge("k"));
  ASSERT_TRUE(backend.wait_for_answers(1)) << "the proxy has taken the whole answer";
  const auto r = retried("k");
  EXPECT_TRUE(r.has("Idempotent-Replayed"));
  EXPECT_EQ(r.body.size(), large.size());
  const auto own = lazy.read();
  EXPECT_TRUE(own.whole());
  EXPECT_EQ(own.body, large);
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_client, that_sends_too_much_is_refused_before_the_claim) {
  start("max_request_body: 1KiB");
  const auto announced = post("k", std::string(1025, 'x'));
  EXPECT_TRUE(is_problem(announced, 413, "request-too-large"));
  EXPECT_TRUE(says(announced, "safe_new_key", true));
  auto request = charge("k", std::string(1025, 'x'));
  request.chunked = true;
  EXPECT_TRUE(is_problem(proxy->fetch(request), 413, "request-too-large"));
  EXPECT_EQ(backend.heads(), 0u);
  if (GetParam() == store::redis) EXPECT_EQ(shared_redis().command({"DBSIZE"}).integer, 0);
  EXPECT_TRUE(is_fresh(post("k", std::string(1024, 'x')), 200)) << "the key is free";
}

TEST_P(a_client, that_expects_100_hears_a_refusal_instead_and_otherwise_100_before_its_body) {
  start("max_request_body: 1KiB");
  auto client = proxy->connect();
  client.send(
      "POST / HTTP/1.1\r\nHost: t\r\nIdempotency-Key: k\r\nExpect: 100-continue\r\nContent-Length: 9999\r\n\r\n");
  const auto refused = client.read();
  EXPECT_TRUE(is_problem(refused, 413, "request-too-large"));
  EXPECT_TRUE(refused.interim.empty());
  auto second = proxy->connect();
  second.send("POST / HTTP/1.1\r\nHost: t\r\nIdempotency-Key: k\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  ASSERT_TRUE(second.wait_for("HTTP/1.1 100 Continue\r\n\r\n"));
  EXPECT_EQ(backend.heads(), 0u);
  second.send("{}");
  EXPECT_TRUE(is_fresh(second.read(), 200));
  EXPECT_FALSE(backend.requests().at(0).field("Expect"));
}

TEST_P(a_client, is_told_504_and_the_late_answer_is_replayed) {
  gate answer;
  backend.on("*", held(answer, reply(201, "late", {"Content-Type: text/csv"})));
  auto s = settings();
  s.routes = {"{name: api, response_timeout: 300ms, idempotency: {lease: 1s}}"};
  start(s);
  const auto first = post("k");
  EXPECT_TRUE(is_problem(first, 504, "upstream-timeout"));
  EXPECT_TRUE(says(first, "retryable", true));
  EXPECT_TRUE(says(first, "safe_new_key", false));
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress"));
  answer.open();
  const auto r = retried("k");
  EXPECT_TRUE(r.has("Idempotent-Replayed"));
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.body, "late");
  EXPECT_EQ(r.value("Content-Type"), "text/csv");
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_client, finds_an_unknown_outcome_where_the_processing_had_no_end) {
  std::atomic<bool> cut = false;
  backend.on("*", [&](const backend_request&, backend_connection& c) {
    cut = c.peer_closed(10s);
    c.close();
  });
  auto s = settings();
  s.routes = {"{name: api, response_timeout: 200ms, idempotency: {lease: 1s, max_processing: 500ms}}"};
  start(s);
  EXPECT_TRUE(is_problem(post("k"), 504, "upstream-timeout"));
  EXPECT_TRUE(eventually([&] { return cut.load(); })) << "the backend connection is closed at the limit";
  http_response r;
  EXPECT_TRUE(eventually([&] { return (r = post("k")).value("Idempotency-Status") != "in-progress"; }));
  EXPECT_TRUE(is_problem(r, 409, "outcome-unknown"));
  EXPECT_TRUE(says(r, "retryable", false));
  EXPECT_FALSE(r.has("Retry-After"));
  EXPECT_EQ(backend.count("k"), 1u);
}

}  // namespace
}  // namespace idem::test
