// Backends that refuse, break off, talk nonsense or stream: what was sent is never sent twice behind the client's back.
#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

class a_backend : public on_every_store {};
RUNS_ON_EVERY_STORE(a_backend);

TEST_P(a_backend, that_cannot_be_reached_leaves_the_key_free) {
  scripted_backend::place later{free_port(), {}};
  auto s = settings();
  s.upstream = "http://127.0.0.1:" + std::to_string(later.port);
  start(s);
  const auto refused = post("k");
  EXPECT_TRUE(is_problem(refused, 502, "upstream-unavailable"));
  EXPECT_TRUE(says(refused, "retryable", true));
  EXPECT_TRUE(says(refused, "safe_new_key", true));
  if (GetParam() == store::redis) EXPECT_EQ(record_state(), '-');
  scripted_backend there(later);
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_EQ(there.count("k"), 1u);
}

TEST_P(a_backend, that_gives_no_whole_answer_leaves_an_unknown_outcome) {
  const std::vector<std::pair<std::string, script>> ways = {
      {"reset", reset_connection()},
      {"closed", close_connection()},
      {"reset-after-the-head", raw_then_reset("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")},
      {"short-length", raw_then_close("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd")},
      {"short-chunk", raw_then_close("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc")},
      {"no-last-chunk", raw_then_close("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")},
      {"bad-chunk", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n")},
      {"until-close-reset", raw_then_reset("HTTP/1.1 200 OK\r\n\r\nabc")},
      {"not-http", raw("SSH-2.0-OpenSSH\r\n\r\n")},
      {"half-a-head", raw_then_close("HTTP/1.1 200 OK\r\nContent-Le")},
      {"both-framings", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n")},
      {"switching", raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")},
      {"short-503", raw_then_close("HTTP/1.1 503 Later\r\nContent-Length: 5\r\n\r\nab")},
  };
  start();
  for (const auto& [key, way] : ways) {
    backend.on("*", in_turn({way, reply(201, "never")}));
    const auto first = post(key);
    EXPECT_FALSE(first.whole() && first.status < 500) << key << ": an incomplete answer was made to look complete";
    if (first.whole()) {
      EXPECT_TRUE(is_problem(first, 502, "upstream-failed")) << key;
      EXPECT_TRUE(says(first, "retryable", false));
      EXPECT_TRUE(says(first, "safe_new_key", false));
    }
    const auto second = post(key);
    EXPECT_TRUE(is_problem(second, 409, "outcome-unknown")) << key;
    EXPECT_NE(second.body.find("\"attempt\":1"), std::string::npos);
    EXPECT_EQ(backend.count(key), 1u) << key;
  }
}

TEST_P(a_backend, that_closes_its_idle_connection_under_a_request_is_not_sent_it_twice) {
  backend.on("*", [](const backend_request& r, backend_connection& c) {
    if (r.on_connection > 1) return c.close();
    c.send(answer_bytes(200, "ok"));
  });
  start();
  EXPECT_TRUE(is_fresh(post("a"), 200));
  const auto second = post("b");
  EXPECT_EQ(backend.count("b"), 1u);
  if (second.status != 200) EXPECT_TRUE(is_problem(second, 502, "upstream-failed"));
}

TEST_P(a_backend, is_given_the_request_again_only_on_at_least_once_and_with_the_number_of_the_attempt) {
  backend.on("*", in_turn({reset_connection(), raw_then_close("HTTP/1.1 201 Made\r\nContent-Length: 9\r\n\r\nha"),
                           reply(201, "made")}));
  start("guarantee: at_least_once, attempt_header: true");
  const auto first = post("k");
  EXPECT_TRUE(is_problem(first, 502, "upstream-failed"));
  EXPECT_TRUE(says(first, "retryable", true));
  EXPECT_FALSE(post("k").whole());
  const auto third = post("k");
  EXPECT_TRUE(is_fresh(third, 201));
  EXPECT_TRUE(is_replay(post("k"), third));
  const auto seen = backend.requests();
  ASSERT_EQ(seen.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(seen[i].value("Idempotency-Attempt"), std::to_string(i + 1));
}

TEST_P(a_backend, that_fails_with_5xx_is_tried_again_on_at_least_once) {
  start("guarantee: at_least_once");
  for (const int status : {500, 502, 503, 504}) {
    const auto key = "k" + std::to_string(status);
    backend.on("*", in_turn({reply(status), reply(201)}));
    EXPECT_TRUE(is_fresh(post(key), status));
    EXPECT_TRUE(is_fresh(post(key), 201));
  }
}

TEST_P(a_backend, that_answers_early_is_heard_before_the_body_is_through) {
  // on an idempotent route the body is whole before it is sent; a route without passes it as it comes
  auto s = settings();
  s.routes = {"{name: api, match: {path: /none}}"};
  backend.on_head("/upload", raw_then_close(answer_bytes(413, "too much")));
  start(s);
  auto client = proxy->connect();
  client.send("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n");
  EXPECT_TRUE(is_fresh(client.read(), 413));
}

class a_large_answer : public on_every_store {};
RUNS_ON_EVERY_STORE(a_large_answer);

TEST_P(a_large_answer, is_delivered_and_its_duplicate_is_refused) {
  backend.on("/length", reply(200, std::string(2000, 'x')));
  backend.on("/chunked", reply(200, std::string(2000, 'x'), {}, framing::chunked));
  start("max_stored_body: 1KiB");
  for (const char* path : {"/length", "/chunked"}) {
    auto request = charge(path);
    request.target = path;
    const auto first = proxy->fetch(request);
    EXPECT_TRUE(is_fresh(first, 200));
    EXPECT_EQ(first.body.size(), 2000u);
    const auto second = proxy->fetch(request);
    EXPECT_TRUE(is_problem(second, 409, "answer-not-kept"));
    EXPECT_TRUE(says(second, "retryable", false));
    EXPECT_EQ(backend.count(path), 1u);
  }
}

TEST_P(a_large_answer, keeps_its_status_and_headers_where_the_route_wants_them) {
  backend.on("*",
             reply(201, std::string(2000, 'x'), {"Location: /7", "ETag: \"1\"", "Content-Encoding: gzip", "X-A: 1"}));
  start("max_stored_body: 1KiB, oversize: status_only");
  EXPECT_TRUE(is_fresh(post("k"), 201));
  const auto r = post("k");
  EXPECT_TRUE(r.whole());
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.value("Location"), "/7");
  EXPECT_EQ(r.value("X-A"), "1");
  EXPECT_FALSE(r.has("ETag"));
  EXPECT_FALSE(r.has("Content-Encoding"));
  EXPECT_EQ(r.value("Content-Length"), "0");
  EXPECT_EQ(r.value("Idempotent-Replayed"), "true");
  EXPECT_EQ(r.value("Idempotency-Status"), "answer-not-kept");
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_large_answer, that_is_cut_later_is_never_executed_again_on_at_most_once) {
  backend.on("*", in_turn({raw_then_close("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nabc"), reply(201)}));
  start("max_stored_body: 1KiB");
  EXPECT_FALSE(post("k").whole());
  EXPECT_TRUE(is_problem(post("k"), 409, "answer-not-kept"));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_large_answer, that_is_cut_later_is_an_unknown_outcome_on_at_least_once) {
  backend.on("*", in_turn({raw_then_close("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nabc"), reply(201)}));
  start("max_stored_body: 1KiB, guarantee: at_least_once");
  EXPECT_FALSE(post("k").whole());
  EXPECT_TRUE(is_fresh(post("k"), 201));
  EXPECT_EQ(backend.count("k"), 2u);
}

class an_event_stream : public on_every_store {};
RUNS_ON_EVERY_STORE(an_event_stream);

TEST_P(an_event_stream, passes_event_by_event_and_is_never_executed_again) {
  gate second;
  backend.on("*", both(raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "9\r\ndata: 1\n\n\r\n"),
                       held(second, raw("9\r\ndata: 2\n\n\r\n0\r\n\r\n"))));
  start();
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(client.wait_for("data: 1\n\n")) << "the first event waits for nothing";
  EXPECT_EQ(client.pending().find("data: 2"), std::string::npos);
  EXPECT_TRUE(is_problem(post("k"), 409, "answer-not-kept")) << "it is certain from the head on";
  second.open();
  const auto r = client.read();
  EXPECT_TRUE(is_fresh(r, 200));
  EXPECT_EQ(r.body, "data: 1\n\ndata: 2\n\n");
  EXPECT_TRUE(is_problem(post("k"), 409, "answer-not-kept"));
  EXPECT_EQ(backend.count("k"), 1u);
}

}  // namespace
}  // namespace idem::test
