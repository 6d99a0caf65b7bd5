// The second answer is the first one, byte for byte (docs/protocol.md, "What the backend's answer becomes").
#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

std::string every_byte(std::size_t times) {
  std::string s;
  for (std::size_t i = 0; i < times * 256; ++i) s += static_cast<char>(i & 0xff);
  return s;
}

class a_replay : public on_every_store {};
RUNS_ON_EVERY_STORE(a_replay);

TEST_P(a_replay, is_the_first_answer_with_its_lines_bytes_and_reason) {
  backend.on("*",
             raw(answer_bytes(201, every_byte(5),
                              {"Location: /v1/charges/7", "set-cookie: a=1; Path=/", "X-ODD:   \"x, y\"",
                               "Set-Cookie: b=2", "Date: Mon, 01 Jan 2024 00:00:00 GMT", "ETag: W/\"1\"",
                               "Link: <a>; rel=next", "Content-Type: image/png", "Empty:", "WWW-Authenticate: Basic"},
                              framing::length, "Made  (really)")));
  start();
  const auto first = post("k");
  EXPECT_TRUE(is_fresh(first, 201));
  EXPECT_EQ(first.reason, "Made  (really)");
  EXPECT_EQ(first.all("Set-Cookie"), (std::vector<std::string>{"a=1; Path=/", "b=2"}));
  EXPECT_EQ(first.body, every_byte(5));
  const auto second = post("k");
  EXPECT_TRUE(is_replay(second, first));
  EXPECT_EQ(second.value("Content-Length"), std::to_string(first.body.size()));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_replay, has_one_framing_when_the_first_answer_was_chunked_with_trailers) {
  backend.on("*", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: X-Hop\r\n"
                      "X-Hop: 1\r\nKeep-Alive: timeout=5\r\nX-End: 2\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n"
                      "X-Sum: 7\r\n\r\n"));
  start();
  const auto first = post("k");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_EQ(first.body, "abcdefg");
  EXPECT_EQ(first.trailers, (field_lines{{"X-Sum", "7"}})) << "passed on, though the answer was there whole";
  EXPECT_FALSE(first.has("X-Hop"));
  const auto second = post("k");
  EXPECT_TRUE(is_replay(second, first));
  EXPECT_EQ(second.value("Content-Length"), "7");
  EXPECT_FALSE(second.has("Transfer-Encoding"));
  EXPECT_FALSE(second.has("X-Hop"));
  EXPECT_FALSE(second.has("Keep-Alive"));
  EXPECT_FALSE(second.has("X-Sum"));
}

TEST_P(a_replay, of_an_until_close_answer_has_a_content_length) {
  backend.on("*", reply(200, "all of it", {"Content-Type: text/csv"}, framing::until_close));
  start();
  const auto first = post("k");
  EXPECT_TRUE(is_fresh(first, 200));
  const auto second = post("k");
  EXPECT_TRUE(is_replay(second, first));
  EXPECT_EQ(second.value("Content-Length"), "9");
}

TEST_P(a_replay, says_the_length_that_an_answer_to_head_described_and_none_of_a_304) {
  backend.on("/304", raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n"));
  backend.on("/head", raw("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"));
  auto s = settings();
  s.routes = {"{name: api, match: {methods: [POST, HEAD]}}"};
  start(s);
  for (const std::string path : {"/304", "/head"}) {
    auto request = charge(path);
    request.target = path;
    if (path == "/head") request.method = "HEAD";
    const auto first = proxy->fetch(request);
    const auto second = proxy->fetch(request);
    EXPECT_EQ(second.value("Idempotent-Replayed"), "true") << path;
    EXPECT_EQ(first.all("Content-Length").size(), 1u) << path;
    EXPECT_EQ(second.value("Content-Length"), path == "/head" ? "1234" : "") << path;
  }
}

TEST_P(a_replay, of_an_empty_answer_that_names_events_is_whole) {
  backend.on("/204", reply(204, "", {"Content-Type: text/event-stream"}));
  backend.on("/head", raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"));
  auto s = settings();
  s.routes = {"{name: api, match: {methods: [POST, HEAD]}}"};
  start(s);
  for (const char* path : {"/204", "/head"}) {
    auto request = charge(path);
    request.target = path;
    if (std::string(path) == "/head") request.method = "HEAD";
    const auto first = proxy->fetch(request);
    EXPECT_TRUE(is_replay(proxy->fetch(request), first)) << path;
  }
}

TEST_P(a_replay, names_the_proxy_as_the_first_answer_does) {
  auto s = settings();
  s.server_more = "via: true";
  start(s);
  const auto first = post("k");
  EXPECT_EQ(first.value("Via"), "1.1 idempotency-proxy");
  EXPECT_TRUE(is_replay(post("k"), first));
}

TEST_P(a_replay, without_a_body_stays_without) {
  backend.on("/204", reply(204, "", {"X-A: 1"}));
  backend.on("/304", reply(304, "", {"ETag: \"1\""}));
  backend.on("/200", reply(200, ""));
  start();
  for (const char* path : {"/204", "/304", "/200"}) {
    auto request = charge(path);
    request.target = path;
    const auto first = proxy->fetch(request);
    const auto second = proxy->fetch(request);
    EXPECT_TRUE(is_replay(second, first)) << path;
    EXPECT_EQ(second.body, "");
    EXPECT_EQ(second.has("Content-Length"), std::string(path) == "/200") << path;
  }
}

TEST_P(a_replay, leaves_out_what_the_route_drops_and_what_only_the_proxy_may_say) {
  backend.on("*", reply(200, "ok", {"Set-Cookie: csrf=1", "Idempotency-Status: in-progress", "X-Kept: 1"}));
  start("replay_headers: {drop: [set-cookie]}");
  const auto first = post("k");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(first.has("Set-Cookie"));
  const auto second = post("k");
  EXPECT_EQ(second.value("Idempotent-Replayed"), "true");
  EXPECT_FALSE(second.has("Set-Cookie"));
  EXPECT_TRUE(second.has("X-Kept"));
}

TEST_P(a_replay, goes_to_a_request_that_arrives_in_pieces_and_follows_it_on_one_connection) {
  start();
  auto client = proxy->connect();
  const auto request = charge("k").bytes();
  ASSERT_TRUE(client.send_slices(request, 7));
  const auto first = client.read();
  EXPECT_TRUE(is_fresh(first, 200));
  ASSERT_TRUE(client.send_slices(request, 7));
  EXPECT_TRUE(is_replay(client.read(), first));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_replay, follows_its_first_answer_when_both_requests_are_pipelined) {
  backend.on("*", delayed(50ms, reply(201, "made")));
  start();
  auto client = proxy->connect();
  const auto request = charge("k").bytes();
  ASSERT_TRUE(client.send(request + request + charge("other").bytes()));
  const auto first = client.read();
  EXPECT_TRUE(is_fresh(first, 201));
  EXPECT_TRUE(is_replay(client.read(), first));
  EXPECT_TRUE(is_fresh(client.read(), 201));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_replay, of_chunked_request_bodies_compares_what_they_carry) {
  start();
  auto request = charge("k");
  const auto first = proxy->fetch(request);
  request.chunked = true;
  EXPECT_TRUE(is_replay(proxy->fetch(request), first));
}

TEST_P(a_replay, ends_with_the_retention) {
  start("lease: 1s, retention: 1s, hold: 1s");
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_TRUE(eventually([&] { return !post("k").has("Idempotent-Replayed"); }, 5s));
  EXPECT_EQ(backend.count("k"), 2u);
}

TEST_P(a_replay, is_never_given_for_the_status_of_a_released_answer) {
  start();
  for (const int status : {401, 403, 407, 408, 425, 429, 503}) {
    const auto key = "k" + std::to_string(status);
    backend.on("*", in_turn({reply(status, "not done"), reply(201, "done")}));
    EXPECT_TRUE(is_fresh(post(key), status));
    const auto second = post(key);
    EXPECT_TRUE(is_fresh(second, 201));
    EXPECT_TRUE(is_replay(post(key), second));
  }
}

TEST_P(a_replay, is_given_for_every_final_status) {
  start();
  for (const int status : {202, 303, 400, 404, 409, 422, 500, 507}) {
    const auto key = "k" + std::to_string(status);
    backend.on("*", reply(status, "said so", {"Content-Type: text/plain"}));
    const auto first = post(key);
    EXPECT_TRUE(is_fresh(first, status));
    EXPECT_TRUE(is_replay(post(key), first));
    EXPECT_EQ(backend.count(key), 1u) << status;
  }
}

TEST_P(a_replay, follows_the_statuses_that_the_route_lists) {
  start("statuses: {final: [503], release: [404, 5xx], unknown: [400]}");
  const auto twice = [&](int status) {
    const auto key = "k" + std::to_string(status);
    backend.on("*", reply(status, "x"));
    EXPECT_TRUE(is_fresh(post(key), status));
    return post(key);
  };
  EXPECT_TRUE(twice(503).has("Idempotent-Replayed"));
  EXPECT_TRUE(is_fresh(twice(404), 404));
  EXPECT_TRUE(is_fresh(twice(500), 500));
  EXPECT_TRUE(is_problem(twice(400), 409, "outcome-unknown"));
}

TEST_P(a_replay, of_502_and_504_by_the_backend_is_refused_as_an_unknown_outcome) {
  start();
  for (const int status : {502, 504}) {
    const auto key = "k" + std::to_string(status);
    backend.on("*", reply(status, "a gateway's word"));
    EXPECT_TRUE(is_fresh(post(key), status));
    EXPECT_TRUE(is_problem(post(key), 409, "outcome-unknown"));
    EXPECT_EQ(backend.count(key), 1u);
  }
}

TEST_P(a_replay, serves_put_and_delete_where_the_route_names_them_and_head_and_get_pass) {
  proxy_settings s = settings();
  s.routes = {"{name: api, match: {methods: [PUT, DELETE]}}"};
  start(s);
  for (const char* method : {"PUT", "DELETE"}) {
    auto request = charge(method);
    request.method = method;
    const auto first = proxy->fetch(request);
    EXPECT_TRUE(is_fresh(first, 200)) << method;
    EXPECT_TRUE(is_replay(proxy->fetch(request), first)) << method;
    EXPECT_EQ(backend.count(method), 1u);
  }
  auto request = charge("PUT");
  request.method = "DELETE";
  EXPECT_TRUE(is_problem(proxy->fetch(request), 422, "key-reused"));
}

TEST_P(a_replay, is_not_given_to_methods_that_no_route_names) {
  start();
  for (const char* method : {"GET", "HEAD", "OPTIONS"}) {
    http_request request;
    request.method = method;
    request.with("Idempotency-Key", "k");
    EXPECT_TRUE(is_fresh(proxy->fetch(request), 200)) << method;
    EXPECT_TRUE(is_fresh(proxy->fetch(request), 200)) << method;
  }
  EXPECT_EQ(backend.count("k"), 6u);
}

TEST_P(a_replay, of_head_on_a_route_that_names_it_has_its_fields_and_no_body) {
  backend.on("*", raw("HTTP/1.1 200 OK\r\nContent-Length: 500\r\nX-A: 1\r\n\r\n"));
  proxy_settings s = settings();
  s.routes = {"{name: api, match: {methods: [HEAD]}}"};
  start(s);
  http_request request;
  request.method = "HEAD";
  request.with("Idempotency-Key", "k");
  const auto first = proxy->fetch(request);
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_EQ(first.value("Content-Length"), "500");
  EXPECT_TRUE(is_replay(proxy->fetch(request), first));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_replay, has_no_interim_answers_though_the_first_answer_had) {
  backend.on("*", raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer_bytes(200, "ok")));
  start();
  const auto first = post("k");
  EXPECT_TRUE(is_fresh(first, 200));
  ASSERT_EQ(first.interim.size(), 1u);
  EXPECT_EQ(first.interim[0].status, 103);
  EXPECT_EQ(first.interim[0].value("Link"), "</a>");
  const auto second = post("k");
  EXPECT_TRUE(is_replay(second, first));
  EXPECT_TRUE(second.interim.empty());
}

}  // namespace
}  // namespace idem::test
