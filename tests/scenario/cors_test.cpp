// Pages of another origin read what the proxy answers itself, and nothing else changes for them (docs/routes.md, "Pages
// of another origin").
#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

using values = std::vector<std::string>;

const std::string shop = "https://shop.example";
const std::string allows_shop = "cors: {origins: [\"https://admin.example\", \"https://shop.example\"]}";

class a_page_of_another_origin : public scenario {
 protected:
  /// A route for POST and HEAD, since what answers the one answers the other.
  void serve(const std::string& policy, const std::string& server_more = "", const std::string& upstream_more = "") {
    start(settings_for(policy, server_more, upstream_more));
  }
  proxy_settings settings_for(const std::string& policy, const std::string& server_more = "",
                              const std::string& upstream_more = "") const {
    proxy_settings s = settings();
    s.routes = {"{name: api, match: {prefix: /v1/, methods: [POST, HEAD]}, idempotency: {" + policy + "}}"};
    s.server_more = server_more;
    s.upstream_more = upstream_more;
    return s;
  }
  http_response post(const std::string& key, const std::string& body = "{\"amount\":1}") const {
    return proxy->fetch(charge(key, body).with("Origin", shop));
  }
};

std::string describe(const http_response& r) { return r.head.empty() ? "no answer" : r.head; }

::testing::AssertionResult has_fields(const http_response& r, const values& origin, const values& exposed,
                                      const values& credentials, const values& vary) {
  if (r.all("Access-Control-Allow-Origin") == origin && r.all("Access-Control-Expose-Headers") == exposed &&
      r.all("Access-Control-Allow-Credentials") == credentials && r.all("Vary") == vary && r.whole()) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << describe(r);
}

const values exposed = {"Retry-After, Idempotency-Status"};

/// Each field once, for this origin alone.
::testing::AssertionResult is_readable_by(const std::string& origin, const http_response& r) {
  return has_fields(r, {origin}, exposed, {}, {"Origin"});
}
/// The origin is none of the route's, which has some.
::testing::AssertionResult only_varies(const http_response& r) { return has_fields(r, {}, {}, {}, {"Origin"}); }
::testing::AssertionResult has_no_fields(const http_response& r) { return has_fields(r, {}, {}, {}, {}); }

TEST_F(a_page_of_another_origin, reads_refusals_that_come_before_the_claim) {
  serve("key: {required: true}, max_request_body: 64B, " + allows_shop, "timeouts: {body_idle: 300ms}");
  const auto without_key = post("");
  EXPECT_TRUE(is_problem(without_key, 400, "missing-key"));
  EXPECT_TRUE(is_readable_by(shop, without_key));
  const auto bad_key = post("a b");
  EXPECT_TRUE(is_problem(bad_key, 400, "malformed-key"));
  EXPECT_TRUE(is_readable_by(shop, bad_key));
  const auto nobody = proxy->fetch(charge("k").with("Origin", shop).with("Authorization", "Digest a=\"b\""));
  EXPECT_TRUE(is_problem(nobody, 400, "missing-scope"));
  EXPECT_TRUE(is_readable_by(shop, nobody));
  const auto announced = post("k", std::string(65, 'x'));
  EXPECT_TRUE(is_problem(announced, 413, "request-too-large"));
  EXPECT_TRUE(is_readable_by(shop, announced));
  auto in_chunks = charge("k", std::string(65, 'x')).with("Origin", shop);
  in_chunks.chunked = true;
  const auto found = proxy->fetch(in_chunks);
  EXPECT_TRUE(is_problem(found, 413, "request-too-large"));
  EXPECT_TRUE(is_readable_by(shop, found));
  auto slow = proxy->connect();
  slow.send("POST /v1/x HTTP/1.1\r\nHost: a\r\nOrigin: " + shop +
            "\r\nIdempotency-Key: k\r\nContent-Length: 5\r\n\r\nab");
  const auto late = slow.read();
  EXPECT_TRUE(is_problem(late, 408, "request-timeout"));
  EXPECT_TRUE(is_readable_by(shop, late)) << "the route was known";
  EXPECT_EQ(backend.count(), 0u);
}

TEST_F(a_page_of_another_origin, reads_that_a_signature_does_not_verify) {
  const temporary_folder folder;
  serve("signature: {scheme: github, secret_file: " + folder.write("secret", "s3cret\n") + "}, " + allows_shop);
  const auto refused = post("k");
  EXPECT_TRUE(is_problem(refused, 401, "bad-signature"));
  EXPECT_TRUE(is_readable_by(shop, refused));
}

TEST_F(a_page_of_another_origin, reads_what_a_duplicate_gets) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  serve(allows_shop, "max_in_flight: 1");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  const auto second = post("k");
  EXPECT_TRUE(is_problem(second, 409, "in-progress"));
  EXPECT_TRUE(second.has("Retry-After"));
  EXPECT_TRUE(is_readable_by(shop, second));
  const auto other = post("k", "{\"amount\":2}");
  EXPECT_TRUE(is_problem(other, 422, "key-reused"));
  EXPECT_TRUE(is_readable_by(shop, other));
  const auto busy = post("new");
  EXPECT_TRUE(is_problem(busy, 503, "busy"));
  EXPECT_TRUE(is_readable_by(shop, busy));
  answer.open();
  EXPECT_TRUE(is_fresh(first.get(), 201));
  EXPECT_EQ(backend.count(), 1u);
}

TEST_F(a_page_of_another_origin, reads_202_where_the_route_says_accepted) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  serve("in_flight: {respond: accepted}, " + allows_shop);
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  const auto second = post("k");
  EXPECT_TRUE(is_problem(second, 202, "in-progress"));
  EXPECT_TRUE(is_readable_by(shop, second));
  answer.open();
  EXPECT_TRUE(is_fresh(first.get(), 201));
}

TEST_F(a_page_of_another_origin, reads_that_an_answer_was_not_kept_or_is_not_known) {
  backend.on("/v1/large", reply(200, std::string(100, 'x')));
  backend.on("/v1/lost", reset_connection());
  serve("max_stored_body: 16B, " + allows_shop);
  for (const auto& [target, code] : {std::pair{"/v1/large", "answer-not-kept"}, {"/v1/lost", "outcome-unknown"}}) {
    auto request = charge(target).with("Origin", shop);
    request.target = target;
    proxy->fetch(request);
    const auto again = proxy->fetch(request);
    EXPECT_TRUE(is_problem(again, 409, code));
    EXPECT_TRUE(is_readable_by(shop, again));
  }
}

TEST_F(a_page_of_another_origin, reads_that_the_store_is_away) {
  redis_server redis;
  auto s = settings_for(allows_shop);
  s.redis_port = redis.port();
  start(s);
  redis.stop();
  const auto refused = post("k");
  EXPECT_TRUE(is_problem(refused, 503, "store-unavailable"));
  EXPECT_TRUE(is_readable_by(shop, refused));
  EXPECT_EQ(backend.count(), 0u);
}

TEST_F(a_page_of_another_origin, reads_what_became_of_a_call_long_after_its_head_is_gone) {
  backend.on("/v1/hangs", hang());
  backend.on("/v1/lost", reset_connection());
  serve(allows_shop, "", "response_timeout: 300ms");
  const auto send = [&](const std::string& key, const char* target) {
    auto request = charge(key).with("Origin", shop);
    request.target = target;
    return proxy->fetch(request);
  };
  for (const std::string key : {"k", ""}) {
    const auto late = send(key, "/v1/hangs");
    EXPECT_TRUE(is_problem(late, 504, "upstream-timeout")) << "key: " << key;
    EXPECT_TRUE(is_readable_by(shop, late)) << "key: " << key;
    const auto failed = send(key.empty() ? key : "other", "/v1/lost");
    EXPECT_TRUE(is_problem(failed, 502, "upstream-failed")) << "key: " << key;
    EXPECT_TRUE(is_readable_by(shop, failed)) << "key: " << key;
  }
}

TEST_F(a_page_of_another_origin, reads_that_the_application_cannot_be_reached_but_only_on_a_route) {
  auto s = settings_for(allows_shop);
  s.upstream = "http://127.0.0.1:" + std::to_string(free_port());
  start(s);
  for (const std::string key : {"k", ""}) {
    const auto refused = post(key);
    EXPECT_TRUE(is_problem(refused, 502, "upstream-unavailable"));
    EXPECT_TRUE(is_readable_by(shop, refused));
  }
  auto elsewhere = charge("k").with("Origin", shop);
  elsewhere.target = "/v2/charges";
  const auto refused = proxy->fetch(elsewhere);
  EXPECT_TRUE(is_problem(refused, 502, "upstream-unavailable"));
  EXPECT_TRUE(has_no_fields(refused));
}

TEST_F(a_page_of_another_origin, that_is_none_of_the_routes_reads_nothing_and_the_answer_varies) {
  serve("key: {required: true}, " + allows_shop);
  for (const char* other :
       {"https://evil.example", "https://shop.example.evil", "https://SHOP.example", "http://shop.example",
        "https://shop.example:443", "https://shop.example/", "null", "*", ""}) {
    EXPECT_TRUE(only_varies(proxy->fetch(charge("").with("Origin", other)))) << other;
  }
  EXPECT_TRUE(only_varies(proxy->fetch(charge("")))) << "no origin";
  EXPECT_TRUE(only_varies(proxy->fetch(charge("").with("Origin", shop).with("Origin", shop))));
  EXPECT_TRUE(only_varies(proxy->fetch(charge("").with("Origin", "https://evil.example").with("Origin", shop))));
  EXPECT_TRUE(
      is_readable_by("https://admin.example", proxy->fetch(charge("").with("Origin", "https://admin.example"))));
}

TEST_F(a_page_of_another_origin, reads_nothing_unless_the_route_says_so) {
  serve("key: {required: true}");
  EXPECT_TRUE(has_no_fields(post("")));
}

TEST_F(a_page_of_another_origin, reads_everywhere_what_is_for_every_origin) {
  serve("key: {required: true}, cors: {origins: [\"*\"]}");
  EXPECT_TRUE(has_fields(post(""), {"*"}, exposed, {}, {}));
  EXPECT_TRUE(has_fields(proxy->fetch(charge("")), {"*"}, exposed, {}, {}));
}

TEST_F(a_page_of_another_origin, may_come_with_credentials_where_the_route_says_so) {
  serve("key: {required: true}, cors: {origins: [\"https://shop.example\"], credentials: true}");
  EXPECT_TRUE(has_fields(post(""), {shop}, exposed, {"true"}, {"Origin"}));
  EXPECT_TRUE(only_varies(proxy->fetch(charge("").with("Origin", "https://admin.example"))));
}

TEST_F(a_page_of_another_origin, reads_the_head_of_an_answer_to_head) {
  serve("key: {required: true}, " + allows_shop);
  auto request = charge("", "").with("Origin", shop);
  request.method = "HEAD";
  auto client = proxy->connect();
  client.send(request);
  const auto refused = client.read(http_client::usual, true);
  EXPECT_EQ(refused.value("Idempotency-Status"), "missing-key");
  EXPECT_TRUE(is_readable_by(shop, refused));
  EXPECT_EQ(refused.body, "");
}

TEST_F(a_page_of_another_origin, reads_nothing_of_what_is_refused_before_a_route_is_known) {
  serve("key: {required: true}, " + allows_shop, "header_fields: 10, timeouts: {header: 300ms, keep_alive: 10s}");
  const std::string begin = "POST /v1/charges HTTP/1.1\r\nHost: a\r\nOrigin: " + shop + "\r\n";
  std::string many = begin;
  for (int i = 0; i < 10; ++i) many += "X: 1\r\n";
  const struct {
    std::string bytes;
    int status;
    const char* code;
  } table[] = {{begin + "Content-Length: 05\r\n\r\n", 400, "malformed-request"},
               {many + "\r\n", 431, "head-too-large"},
               {begin + "X", 408, "request-timeout"}};
  for (const auto& t : table) {
    auto client = proxy->connect();
    // what an earlier request of the connection was allowed says nothing of this one
    ASSERT_TRUE(is_readable_by(shop, client.exchange(charge("").with("Origin", shop))));
    client.send(t.bytes);
    const auto refused = client.read();
    EXPECT_TRUE(is_problem(refused, t.status, t.code));
    EXPECT_TRUE(has_no_fields(refused)) << t.code;
  }
}

TEST_F(a_page_of_another_origin, gets_the_answers_of_the_application_and_their_replays_as_they_are) {
  const values own = {"Access-Control-Allow-Origin: https://other.example", "Vary: Accept", "X-Trace: 1"};
  backend.on("*", reply(201, "made", own));
  backend.on("/v1/chunks", reply(200, "in chunks", own, framing::chunked));
  backend.on("/v1/bare", reply(201, "bare"));
  backend.on("/v1/large", reply(200, std::string(100, 'x'), own));
  const std::string policy = "max_stored_body: 64B, oversize: status_only";
  const proxy_process plain(settings_for(policy));
  serve(policy + ", " + allows_shop);
  const auto same = [&](const http_request& request, const char* what) {
    const auto with = proxy->fetch(request), without = plain.fetch(request);
    EXPECT_TRUE(with.whole()) << what;
    EXPECT_EQ(with.head, without.head) << what;
    EXPECT_EQ(with.body, without.body) << what;
    return with;
  };
  for (const char* target : {"/v1/charges", "/v1/chunks", "/v1/bare", "/v1/large"}) {
    auto request = charge(target).with("Origin", shop);
    request.target = target;
    EXPECT_FALSE(same(request, "first").has("Idempotent-Replayed")) << target;
    EXPECT_TRUE(same(request, "replay").has("Idempotent-Replayed")) << target;
    request.fields.erase(request.fields.begin() + 1);
    same(request, "without a key");
  }
  http_request preflight;
  preflight.method = "OPTIONS";
  preflight.target = "/v1/charges";
  preflight.with("Origin", shop).with("Access-Control-Request-Method", "POST");
  preflight.with("Access-Control-Request-Headers", "idempotency-key");
  const auto before = backend.count();
  EXPECT_TRUE(is_fresh(same(preflight, "preflight"), 201));
  EXPECT_EQ(backend.count(), before + 2) << "preflights are the application's";
}

TEST_F(a_page_of_another_origin, is_let_in_and_shut_out_by_a_reload_at_once) {
  serve("key: {required: true}");
  auto client = proxy->connect();
  EXPECT_TRUE(has_no_fields(client.exchange(charge("").with("Origin", shop))));
  proxy->reload(settings_for("key: {required: true}, " + allows_shop));
  EXPECT_TRUE(is_readable_by(shop, client.exchange(charge("").with("Origin", shop))));
  proxy->reload(settings_for("key: {required: true}, cors: {origins: [\"https://admin.example\"]}"));
  EXPECT_TRUE(only_varies(client.exchange(charge("").with("Origin", shop))));
}

}  // namespace
}  // namespace idem::test
