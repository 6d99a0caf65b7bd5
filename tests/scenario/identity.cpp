// Which requests are one: keys, scopes and fingerprints (docs/protocol.md, "One record per key").
#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

class a_key : public on_every_store {};
RUNS_ON_EVERY_STORE(a_key);

TEST_P(a_key, that_is_malformed_is_refused_before_anything_happens) {
  start();
  const std::vector<std::string> bad = {
      "\"open", "\"a\" b", "a,b",         "\"bad\\escape\"", "caf\xc3\xa9", std::string(256, 'k'),
      "\"\"",   "\"a\";=", "\"a\", \"b\""};
  for (const auto& key : bad) {
    const auto r = post(key);
    EXPECT_TRUE(is_problem(r, 400, "malformed-key")) << key;
    EXPECT_TRUE(says(r, "safe_new_key", true));
    EXPECT_EQ(r.body.find(key), std::string::npos) << "a refused key is not echoed: " << key;
  }
  EXPECT_TRUE(is_problem(proxy->fetch(charge("k").with("Idempotency-Key", "k")), 400, "malformed-key")) << "two lines";
  EXPECT_TRUE(is_problem(proxy->fetch(charge("").with("Idempotency-Key", "")), 400, "malformed-key")) << "empty";
  EXPECT_EQ(backend.count(), 0u);
  if (GetParam() == store::redis) EXPECT_EQ(shared_redis().command({"DBSIZE"}).integer, 0);
  EXPECT_EQ(proxy->log().find("open"), std::string::npos) << "nor logged";
}

TEST_P(a_key, is_one_key_quoted_and_bare_and_reaches_the_backend_as_it_came) {
  start();
  const auto first = post("\"ab\\\"c\"; p=1");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(post("\"ab\\\"c\""), first));
  EXPECT_EQ(backend.requests().at(0).key(), "\"ab\\\"c\"; p=1");
  const auto bare = post("0b1f5ae6-7a0e-4e0f-9a3e-111111111111");
  EXPECT_TRUE(is_replay(post("\"0b1f5ae6-7a0e-4e0f-9a3e-111111111111\""), bare));
}

TEST_P(a_key, must_be_there_where_the_route_requires_it_and_else_passes) {
  auto s = settings();
  s.routes = {"{name: strict, match: {path: /strict}, idempotency: {key: {required: true, strict: true}}}",
              "{name: uuid, match: {path: /uuid}, idempotency: {key: {format: uuid}}}", "{name: api}"};
  start(s);
  const auto at = [&](const std::string& path, const std::string& key) {
    auto request = charge(key);
    request.target = path;
    return proxy->fetch(request);
  };
  EXPECT_TRUE(is_problem(at("/strict", ""), 400, "missing-key"));
  EXPECT_TRUE(is_problem(at("/strict", "bare"), 400, "malformed-key"));
  EXPECT_TRUE(is_fresh(at("/strict", "\"quoted\""), 200));
  EXPECT_TRUE(is_problem(at("/uuid", "no-uuid"), 400, "malformed-key"));
  EXPECT_TRUE(is_fresh(at("/uuid", "0b1f5ae6-7a0e-4e0f-9a3e-222222222222"), 200));
  EXPECT_TRUE(is_fresh(at("/any", ""), 200));
  EXPECT_TRUE(is_fresh(at("/any", ""), 200));
  EXPECT_EQ(backend.count(), 4u);
}

TEST_P(a_key, may_stand_in_the_json_body) {
  start("key: {from: [\"json:/id\"], required: true}, scope: [credential]");
  const auto first = post("", "{\"id\":\"ev_1\",\"n\":1}");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(post("", "{\"n\":1, \"id\":\"ev_1\"}"), first));
  EXPECT_TRUE(is_problem(post("", "{\"id\":\"ev_1\",\"n\":2}"), 422, "key-reused"));
  EXPECT_TRUE(is_fresh(post("", "{\"id\":\"ev_2\",\"n\":1}"), 200));
  EXPECT_TRUE(is_problem(post("", "{\"n\":1}"), 400, "missing-key"));
  EXPECT_EQ(backend.count(), 2u);
}

TEST_P(a_key, is_taken_from_the_first_source_that_is_there) {
  start("key: {from: [\"header:X-Request-Key\", \"header:Idempotency-Key\"]}");
  const auto first = proxy->fetch(charge("").with("X-Request-Key", "a"));
  EXPECT_TRUE(is_replay(proxy->fetch(charge("other").with("X-Request-Key", "a")), first));
  EXPECT_TRUE(is_fresh(post("b"), 200));
}

class a_caller : public on_every_store {};
RUNS_ON_EVERY_STORE(a_caller);

TEST_P(a_caller, never_gets_the_answer_of_another_credential) {
  start();
  const auto as = [&](const std::string& name, const std::string& value) {
    return proxy->fetch(charge("k").with(name, value));
  };
  const auto alice = as("Authorization", "Bearer alice");
  EXPECT_TRUE(is_fresh(alice, 200));
  EXPECT_TRUE(is_fresh(as("Authorization", "Bearer bob"), 200));
  EXPECT_TRUE(is_fresh(as("X-Api-Key", "Bearer alice"), 200));
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_TRUE(is_replay(as("Authorization", "Bearer alice"), alice));
  EXPECT_EQ(backend.count("k"), 4u);
}

TEST_P(a_caller, that_only_a_cookie_or_a_changing_signature_tells_apart_is_refused) {
  start();
  EXPECT_TRUE(is_problem(proxy->fetch(charge("k").with("Cookie", "session=1")), 400, "missing-scope"));
  EXPECT_TRUE(is_problem(proxy->fetch(charge("k").with("Authorization", "AWS4-HMAC-SHA256 Credential=x")), 400,
                         "missing-scope"));
  EXPECT_EQ(backend.count(), 0u);
}

TEST_P(a_caller, is_told_apart_by_a_header_a_path_or_a_cookie_where_the_route_says_so) {
  auto s = settings();
  s.routes = {"{name: h, match: {path: /h}, idempotency: {scope: [\"header:X-Tenant\"]}}",
              "{name: c, match: {path: /c}, idempotency: {scope: [\"cookie:session\"]}}",
              "{name: p, match: {path: \"/p/{account}/charges\"}, idempotency: {scope: [\"path:{account}\"]}}"};
  start(s);
  const auto at = [&](const std::string& path, const std::string& name, const std::string& value) {
    auto request = charge("k");
    request.target = path;
    return proxy->fetch(request.with(name, value));
  };
  const auto h1 = at("/h", "X-Tenant", "1");
  EXPECT_TRUE(is_fresh(at("/h", "X-Tenant", "2"), 200));
  EXPECT_TRUE(is_replay(at("/h", "X-Tenant", "1"), h1));
  const auto c1 = at("/c", "Cookie", "a=b; session=1");
  EXPECT_TRUE(is_fresh(at("/c", "Cookie", "session=2"), 200));
  EXPECT_TRUE(is_replay(at("/c", "Cookie", "session=1; x=y"), c1));
  const auto p1 = at("/p/1/charges", "X-A", "1");
  EXPECT_TRUE(is_fresh(at("/p/2/charges", "X-A", "1"), 200));
  EXPECT_TRUE(is_replay(at("/p/1/charges", "X-A", "1"), p1));
}

TEST_P(a_caller, has_one_record_for_each_route_but_not_for_each_path_of_a_route) {
  auto s = settings();
  s.routes = {"{name: a, match: {path: /a}}", "{name: b, match: {prefix: /b/}}"};
  start(s);
  const auto at = [&](const std::string& path) {
    auto request = charge("k");
    request.target = path;
    return proxy->fetch(request);
  };
  const auto a = at("/a"), b = at("/b/1");
  EXPECT_TRUE(is_fresh(a, 200));
  EXPECT_TRUE(is_fresh(b, 200));
  EXPECT_TRUE(is_replay(at("/a"), a));
  EXPECT_TRUE(is_replay(at("/b/1"), b));
  EXPECT_TRUE(is_problem(at("/b/2"), 422, "key-reused"));
  EXPECT_TRUE(is_fresh(at("/none"), 200));
  EXPECT_TRUE(is_fresh(at("/none"), 200)) << "what matches no route passes";
}

class a_fingerprint : public on_every_store {};
RUNS_ON_EVERY_STORE(a_fingerprint);

TEST_P(a_fingerprint, covers_the_query_unless_the_route_leaves_it_out) {
  auto s = settings();
  s.routes = {"{name: a, match: {path: /a}}",
              "{name: b, match: {path: /b}, idempotency: {fingerprint: {query: false}}}"};
  start(s);
  const auto at = [&](const std::string& target) {
    auto request = charge("k");
    request.target = target;
    return proxy->fetch(request);
  };
  EXPECT_TRUE(is_fresh(at("/a?to=alice"), 200));
  EXPECT_TRUE(is_problem(at("/a?to=mallory"), 422, "key-reused"));
  const auto b = at("/b?trace=1");
  EXPECT_TRUE(is_replay(at("/b?trace=2"), b));
}

TEST_P(a_fingerprint, ignores_the_form_of_json_and_what_is_excluded_but_not_the_digits) {
  start("fingerprint: {exclude: [\"/sent_at\"]}");
  const auto first = post("k", "{\"a\":1,\"b\":\"\\u00e4\",\"sent_at\":1}");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(post("k", " {\"b\" : \"\xc3\xa4\", \"a\":1, \"sent_at\":2}"), first));
  EXPECT_TRUE(is_problem(post("k", "{\"a\":1.0,\"b\":\"\\u00e4\"}"), 422, "key-reused"));
}

TEST_P(a_fingerprint, of_raw_bytes_and_of_named_headers_counts_both) {
  start("fingerprint: {body: raw, headers: [X-Version]}");
  const auto first = proxy->fetch(charge("k", "{\"a\":1}").with("X-Version", "1"));
  EXPECT_TRUE(is_replay(proxy->fetch(charge("k", "{\"a\":1}").with("X-Version", "1").with("User-Agent", "x")), first));
  EXPECT_TRUE(is_problem(proxy->fetch(charge("k", "{\"a\": 1}").with("X-Version", "1")), 422, "key-reused"));
  EXPECT_TRUE(is_problem(proxy->fetch(charge("k", "{\"a\":1}").with("X-Version", "2")), 422, "key-reused"));
}

TEST_P(a_fingerprint, made_under_settings_from_before_a_reload_is_compared_by_them) {
  start("fingerprint: {body: json}");
  const auto first = post("k", "{\"a\":1,\"b\":2}");
  proxy->reload(settings("fingerprint: {body: raw}"));
  EXPECT_TRUE(is_replay(post("k", "{\"b\":2,\"a\":1}"), first));
  EXPECT_TRUE(is_problem(post("k", "{\"b\":2,\"a\":3}"), 422, "key-reused"));
  EXPECT_TRUE(is_fresh(post("new", "{\"a\":1,\"b\":2}"), 200));
  EXPECT_TRUE(is_problem(post("new", "{\"b\":2,\"a\":1}"), 422, "key-reused"));
}

using a_foreign_fingerprint = on_redis;

TEST_F(a_foreign_fingerprint, of_settings_that_this_process_never_had_is_neither_a_mismatch_nor_a_replay) {
  {
    proxy_process before(settings("fingerprint: {exclude: [\"/sent_at\"]}"));
    EXPECT_TRUE(is_fresh(before.fetch(charge("k")), 200));
  }
  start("fingerprint: {headers: []}");
  const auto r = post("k");
  EXPECT_TRUE(is_problem(r, 409, "fingerprint-unknown"));
  EXPECT_TRUE(says(r, "safe_new_key", false));
  EXPECT_EQ(backend.count("k"), 1u);
}

}  // namespace
}  // namespace idem::test
