#include "app/changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "idem/config/load.hpp"

namespace idem::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::shared_ptr<const config::snapshot> loaded(const std::string& more) {
  const auto result = config::load_text("upstream: {url: \"http://127.0.0.1:3000\"}\n" + more, "f");
  for (const auto& f : result.findings) {
    EXPECT_NE(f.level, config::finding::severity::error) << f.text();
  }
  return result.config;
}

auto restarts(const std::string& started, const std::string& next) {
  return needing_restart(*loaded(started), *loaded(next));
}

std::string redis(const std::string& block) { return "store: {type: redis, redis: {" + block + "}}\n"; }

TEST(needing_restart, are_listeners_and_threads) {
  const std::string started = "server: {threads: 2}\n";
  EXPECT_THAT(restarts(started, started), IsEmpty());
  EXPECT_THAT(restarts(started, "server: {listen: [\"127.0.0.1:1\"], threads: 3}\nadmin: {listen: \"127.0.0.1:2\"}\n"),
              ElementsAre("server.listen", "server.threads", "admin.listen"));
  EXPECT_THAT(restarts(started, "server: {threads: 2, via: on, max_in_flight: 1, timeouts: {drain: 1s}}\n"), IsEmpty());
}

TEST(needing_restart, are_the_limits_of_a_store_in_memory) {
  EXPECT_THAT(restarts("", "store: {memory: {max_bytes: 64KiB}}\n"), ElementsAre("store.memory.max_bytes"));
  EXPECT_THAT(restarts("", "store: {redis: {command_timeout: 1s}}\n"), IsEmpty()) << "which is not in use";
}

TEST(needing_restart, is_the_type_of_the_store_and_nothing_of_the_new_one) {
  EXPECT_THAT(restarts("", redis("command_timeout: 1s, allow_eviction: true")), ElementsAre("store.type"));
  EXPECT_THAT(restarts(redis(""), "store: {memory: {max_bytes: 64KiB}}\n"), ElementsAre("store.type"));
}

TEST(needing_restart, is_each_setting_of_redis_but_the_prefix) {
  const auto changed = [](const std::string& block) { return restarts(redis(""), redis(block)); };
  EXPECT_THAT(changed("key_prefix: \"a:\""), IsEmpty());
  EXPECT_THAT(changed("connect_timeout: 1s, command_timeout: 1s, allow_eviction: true"),
              ElementsAre("store.redis.connect_timeout", "store.redis.command_timeout", "store.redis.allow_eviction"));
  for (const char* url : {"redis://127.0.0.1:6379/1", "redis://127.0.0.1:1/0", "redis://127.0.0.2:6379/0",
                          "rediss://127.0.0.1:6379/0", "redis+unix:///r", "redis://:p@127.0.0.1:6379/0"}) {
    EXPECT_THAT(changed("url: \"" + std::string(url) + "\""), ElementsAre("store.redis.url")) << url;
  }
  EXPECT_THAT(changed("url: \"redis://127.0.0.1\""), IsEmpty()) << "another spelling";
  EXPECT_THAT(restarts(redis("url: \"redis://u:p@h\""), redis("url: \"redis://v:p@h\"")),
              ElementsAre("store.redis.username"));
  EXPECT_THAT(
      restarts(redis("url: \"rediss://h\""), redis("url: \"rediss://h\", tls: {server_name: a, verify: false}")),
      ElementsAre("store.redis.tls.server_name", "store.redis.tls.verify"));
}

TEST(needing_restart, is_another_file_of_the_password_but_not_what_it_holds) {
  auto started = *loaded(redis(""));
  started.store.redis.password_file = "/a";
  auto next = started;
  next.store.redis.password = "another";
  EXPECT_THAT(needing_restart(started, next), IsEmpty());
  next.store.redis.password_file = "/b";
  EXPECT_THAT(needing_restart(started, next), ElementsAre("store.redis.password_file"));
}

/// `name before: changed` of each route whose keys are new.
std::vector<std::string> new_keys_of(const std::string& before, const std::string& next) {
  std::vector<std::string> out;
  for (const auto& c : new_key_spaces(*loaded(before), *loaded(next))) {
    out.push_back(c.name + " " + c.before + ": " + c.changed);
  }
  return out;
}

std::vector<std::string> new_keys(const std::string& before, const std::string& next) {
  return new_keys_of("routes: [" + before + "]\n", "routes: [" + next + "]\n");
}

TEST(new_key_spaces, begin_with_another_namespace_scope_or_source) {
  const std::string before = "{name: a}";
  EXPECT_THAT(new_keys(before, before), IsEmpty());
  EXPECT_THAT(new_keys(before, "{name: a, idempotency: {retention: 1h}}"), IsEmpty());
  const std::pair<const char*, const char*> all[] = {
      {"namespace: b", "namespace"}, {"scope: [\"header:A\"]", "scope"}, {"key: {from: [\"header:A\"]}", "key.from"}};
  for (const auto& [block, changed] : all) {
    EXPECT_THAT(new_keys(before, "{name: a, idempotency: {" + std::string(block) + "}}"),
                ElementsAre("a a: " + std::string(changed)));
  }
  EXPECT_THAT(new_keys(before, "{name: a, idempotency: {namespace: b, scope: [\"const:x\"]}}"),
              ElementsAre("a a: namespace, scope"));
}

TEST(new_key_spaces, begin_on_every_route_with_another_prefix_of_names) {
  const std::string two = "routes: [{name: a, match: {path: /a}}, {name: b, match: {path: /b}}]\n";
  EXPECT_THAT(new_keys_of(redis("") + two, redis("key_prefix: \"x:\"") + two),
              ElementsAre("a a: store.redis.key_prefix", "b b: store.redis.key_prefix"));
  EXPECT_THAT(new_keys_of(two, "store: {redis: {key_prefix: \"x:\"}}\n" + two), ::testing::SizeIs(2))
      << "names of records in memory begin with it as well";
  EXPECT_THAT(new_keys_of(redis("") + "routes: [{name: a}]\n", redis("key_prefix: \"x:\"") + "routes: [{name: b}]\n"),
              ElementsAre("b a: store.redis.key_prefix, namespace"));
}

TEST(new_key_spaces, begin_with_another_fingerprint_where_that_is_a_part_of_the_key) {
  const auto route = [](const std::string& from, const std::string& fingerprint) {
    return "{name: a, idempotency: {key: {from: [" + from + "]}, fingerprint: {" + fingerprint + "}}}";
  };
  const std::string ticket = "\"query:ticket\"", last = "\"query:ticket\", fingerprint",
                    part = "[\"query:ticket\", fingerprint]";
  for (const char* changed : {"body: raw", "query: false", "headers: [Accept]", "exclude: [\"/a\"]"}) {
    EXPECT_THAT(new_keys(route(ticket, ""), route(ticket, changed)), IsEmpty()) << changed;
    EXPECT_THAT(new_keys(route(last, ""), route(last, changed)), ElementsAre("a a: fingerprint")) << changed;
    EXPECT_THAT(new_keys(route(part, ""), route(part, changed)), ElementsAre("a a: fingerprint")) << changed;
  }
  EXPECT_THAT(new_keys(route(last, "headers: [A, b]"), route(last, "headers: [B, a]")), IsEmpty())
      << "another spelling";
  EXPECT_THAT(new_keys(route(last, "body: raw"), route(ticket, "")), ElementsAre("a a: key.from"));
}

TEST(new_key_spaces, begin_with_another_name_where_no_namespace_stays) {
  const std::string match = ", match: {path: /a, methods: [POST, PUT]}";
  const std::string before = "{name: a" + match + "}";
  EXPECT_THAT(new_keys(before, "{name: b, match: {path: /a, methods: [PUT, POST]}}"), ElementsAre("b a: namespace"));
  EXPECT_THAT(new_keys(before, "{name: b" + match + ", idempotency: {namespace: a}}"), IsEmpty());
  EXPECT_THAT(new_keys("{name: a" + match + ", idempotency: {namespace: n}}",
                       "{name: b" + match + ", idempotency: {namespace: n}}"),
              IsEmpty());
}

TEST(new_key_spaces, begin_with_another_format_of_keys_in_headers) {
  const auto route = [](const std::string& key) { return "{name: a, idempotency: {key: {" + key + "}}}"; };
  EXPECT_THAT(new_keys(route(""), route("format: uuid")), ElementsAre("a a: key.format")) << "which has no capitals";
  EXPECT_THAT(new_keys(route("format: uuid"), route("format: any")), ElementsAre("a a: key.format"));
  EXPECT_THAT(new_keys(route(""), route("format: any, strict: true, max_length: 36, required: true")), IsEmpty());
  const std::string elsewhere = "from: [\"query:q\", \"json:/id\"]";
  EXPECT_THAT(new_keys(route(elsewhere), route(elsewhere + ", format: uuid")), IsEmpty());
}

TEST(new_key_spaces, begin_where_a_route_is_split_without_a_namespace) {
  const std::string v1 = "{name: v1, match: {prefix: /v1/}}", part = "{name: charges, match: {path: /v1/charges}";
  EXPECT_THAT(new_keys(v1, part + "}, " + v1), ElementsAre("charges v1: namespace"));
  EXPECT_THAT(new_keys(v1, part + ", idempotency: {namespace: v1}}, " + v1), IsEmpty());
  EXPECT_THAT(new_keys(part + "}, " + v1, v1), ElementsAre("v1 charges: namespace")) << "and where it is put together";
  EXPECT_THAT(new_keys(v1, "{name: a, match: {path: \"/v1/{x}\"}}, {name: b, match: {prefix: /v1/}}"),
              ElementsAre("a v1: namespace", "b v1: namespace"));
}

TEST(new_key_spaces, begin_where_overlapping_routes_change_places) {
  const std::string a = "{name: a, match: {prefix: /v1/, methods: [POST, PUT]}}";
  const std::string b = "{name: b, match: {path: /v1/charges, methods: [POST, PATCH]}}";
  EXPECT_THAT(new_keys(a + ", " + b, b + ", " + a), ElementsAre("b a: namespace"));
  EXPECT_THAT(new_keys(b + ", " + a, a + ", " + b), ElementsAre("a b: namespace"));
  const std::string elsewhere = "{name: c, match: {path: /v2}}", other_method = "{name: d, match: {methods: [GET]}}";
  EXPECT_THAT(new_keys(elsewhere + ", " + other_method + ", " + a, a + ", " + other_method + ", " + elsewhere),
              IsEmpty())
      << "these have nothing in common";
}

TEST(new_key_spaces, are_told_once_for_a_route_with_all_whose_requests_it_takes) {
  const std::string a = "{name: a, match: {path: /a}}, ", b = "{name: b, match: {path: /b}}, ";
  EXPECT_THAT(new_keys(a + b + "{name: c, match: {path: /c}, idempotency: {scope: [\"header:A\"]}}", "{name: c}"),
              ElementsAre("c a, b, c: namespace, scope"));
}

TEST(new_key_spaces, name_ten_of_many_routes_whose_requests_one_takes) {
  std::string many;
  for (char c = 'a'; c <= 'm'; ++c) many += std::string("{name: ") + c + ", match: {path: /" + c + "}}, ";
  EXPECT_THAT(new_keys(many, "{name: z}"), ElementsAre("z a, b, c, d, e, f, g, h, i, j and 3 more: namespace"));
}

TEST(new_key_spaces, are_not_those_of_requests_that_another_route_takes_before_and_after) {
  const std::string first = "{name: first, match: {prefix: /v1/}}, ";
  EXPECT_THAT(new_keys(first + "{name: a}", first + "{name: a}, {name: b, match: {methods: [GET]}}"), IsEmpty());
  EXPECT_THAT(new_keys(first + "{name: rest}", first + "{name: charges, match: {path: /charges}}, {name: rest}"),
              ElementsAre("charges rest: namespace"));
}

TEST(new_key_spaces, are_not_those_of_requests_without_a_key) {
  const std::string all = "{name: all}", health = "{name: health, match: {path: /health}, idempotency: {mode: off}}, ";
  EXPECT_THAT(new_keys(all, health + all), IsEmpty());
  EXPECT_THAT(new_keys(health + all, all), IsEmpty());
  EXPECT_THAT(new_keys(all, "{name: all, idempotency: {mode: off, namespace: n}}"), ElementsAre("all all: namespace"))
      << "a route that is switched off goes on with its keys one day";
}

TEST(new_key_spaces, are_not_those_of_routes_that_came_or_went) {
  EXPECT_THAT(new_keys("{name: a, match: {path: /a}}", "{name: b, match: {path: /b}}"), IsEmpty());
  EXPECT_THAT(new_keys("{name: a, match: {path: /a}}", "{name: b, match: {path: /b}}, {name: a, match: {path: /c}}"),
              IsEmpty());
}

}  // namespace
}  // namespace idem::app
