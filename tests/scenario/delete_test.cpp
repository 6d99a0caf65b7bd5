// DELETEs whose target is not there any more, and updates with optimistic locks (docs/routes.md, "Methods").
#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

class a_delete : public on_every_store {
 protected:
  void serve(const std::string& policy) {
    proxy_settings s = settings();
    s.routes = {"{name: api, match: {path: \"/orders/{id}\", methods: [DELETE, PUT]}, idempotency: {" + policy + "}}"};
    start(s);
  }
  http_response remove(const std::string& key = "k", const char* method = "DELETE") const {
    http_request q;
    q.method = method;
    q.target = "/orders/7";
    if (!key.empty()) q.with("Idempotency-Key", key);
    return proxy->fetch(q);
  }
};
RUNS_ON_EVERY_STORE(a_delete);

TEST_P(a_delete, that_is_repeated_gets_its_first_answer) {
  backend.on("*", in_turn({reply(200, "deleted"), reply(404, "not found")}));
  serve("key: {from: [\"path:{id}\"]}, absent_is_success: true, guarantee: at_least_once");
  const auto first = remove("");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(remove(""), first));
  EXPECT_EQ(backend.count(), 1u);
}

TEST_P(a_delete, whose_first_answer_was_lost_succeeds_when_there_is_nothing_left) {
  for (const int status : {404, 410}) {
    const std::string key = "k" + std::to_string(status);
    backend.on("*", in_turn({reset_connection(),
                             reply(status, "not found", {"Content-Type: text/plain", "ETag: \"1\"", "X-Trace: 1"})}));
    serve("absent_is_success: true, guarantee: at_least_once");
    EXPECT_EQ(remove(key).status, 502);
    const auto second = remove(key);
    EXPECT_TRUE(is_fresh(second, 204));
    EXPECT_EQ(second.body, "");
    EXPECT_EQ(second.reason, "No Content");
    EXPECT_FALSE(second.has("Content-Type"));
    EXPECT_FALSE(second.has("Content-Length"));
    EXPECT_FALSE(second.has("ETag"));
    EXPECT_TRUE(second.has("X-Trace"));
    EXPECT_TRUE(is_replay(remove(key), second));
    EXPECT_EQ(backend.count(key), 2u);
  }
}

TEST_P(a_delete, of_what_was_never_there_is_a_404_unless_always) {
  backend.on("*", reply(404, "not found"));
  serve("absent_is_success: true, guarantee: at_least_once");
  EXPECT_TRUE(is_fresh(remove("a"), 404));
  serve("absent_is_success: always");
  const auto first = remove("b");
  EXPECT_TRUE(is_fresh(first, 204));
  EXPECT_TRUE(is_replay(remove("b"), first));
  EXPECT_TRUE(is_fresh(remove("c", "PUT"), 404));
}

TEST_P(a_delete, with_a_large_or_chunked_404_leaves_the_connection_in_order) {
  serve("absent_is_success: always, max_stored_body: 16B");
  for (const auto how : {framing::length, framing::chunked, framing::until_close}) {
    backend.on("*", reply(404, std::string(100'000, 'x'), {}, how));
    auto client = proxy->connect();
    http_request q;
    q.method = "DELETE";
    q.target = "/orders/7";
    q.with("Idempotency-Key", "l" + std::to_string(static_cast<int>(how)));
    const auto first = client.exchange(q);
    EXPECT_TRUE(is_fresh(first, 204));
    EXPECT_TRUE(is_replay(client.exchange(q), first));
  }
}

TEST_P(a_delete, that_fails_otherwise_stays_what_it_is) {
  serve("absent_is_success: always");
  for (const int status : {200, 204, 400, 409, 500}) {
    backend.on("*", reply(status));
    EXPECT_TRUE(is_fresh(remove("s" + std::to_string(status)), status));
  }
}

TEST_P(a_delete, is_one_of_the_methods_beside_updates_that_lose_a_race) {
  serve("statuses: {release: [409, 412]}");
  for (const int status : {409, 412}) {
    const std::string key = "u" + std::to_string(status);
    backend.on("*", in_turn({reply(status, "changed meanwhile"), reply(200, "updated")}));
    EXPECT_TRUE(is_fresh(remove(key, "PUT"), status));
    const auto second = remove(key, "PUT");
    EXPECT_TRUE(is_fresh(second, 200));
    EXPECT_TRUE(is_replay(remove(key, "PUT"), second));
  }
}

}  // namespace
}  // namespace idem::test
