// What must hold between several values: each rule with its message and its place.
#include <gtest/gtest.h>

#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using test::is_clean;
using test::reports;
using test::with_block;
using test::with_routes;

TEST(route_names, must_be_there_and_of_small_letters_digits_and_hyphens) {
  EXPECT_TRUE(reports(with_routes("routes: [{match: {path: /a}}]\n"), "f:3:10: error: routes[0].name: is missing"));
  for (const char* name : {"Charges", "a_b", "a b", "\"\"", "ä"}) {
    EXPECT_TRUE(reports(with_routes("routes: [{name: " + std::string(name) + "}]\n"),
                        "f:3:17: error: routes[0].name: ", "is no name of a route"))
        << name;
  }
  EXPECT_TRUE(reports(with_routes("routes: [{name: }]\n"), "f:3:", "routes[0].name: is nothing"));
  EXPECT_TRUE(is_clean(with_routes("routes: [{name: a-1}]\n")));
}

TEST(route_names, must_differ) {
  EXPECT_TRUE(reports(with_routes("routes:\n  - {name: a, match: {path: /a}}\n  - {name: a, match: {path: /b}}\n"),
                      "f:5:12: error: routes[1].name: \"a\" is the name of routes[0] on line 4"));
}

TEST(shadowed_route, is_an_error_that_names_both) {
  EXPECT_TRUE(reports(
      with_routes("routes:\n  - {name: wide, match: {prefix: /v1/}}\n  - {name: narrow, match: {path: /v1/a}}\n"),
      "f:5:5: error: routes[1]: route \"narrow\" is never reached: route \"wide\" on line 4"));
  EXPECT_TRUE(is_clean(
      with_routes("routes:\n  - {name: narrow, match: {path: /v1/a}}\n  - {name: wide, match: {prefix: /v1/}}\n")));
  EXPECT_TRUE(reports(with_routes("routes:\n  - {}\n  - {}\n"),
                      "f:5:5: error: routes[1]: routes[1] is never reached: routes[0] on line 4"))
      << "one without a name is told by its place";
}

TEST(path_of_a_route, that_looks_as_if_it_had_wildcards_is_a_warning) {
  for (const char* path : {"/v1/*", "/v1/**", "/v1/.*", "/*/charges", "/v1/:account/charges"}) {
    for (const char* key : {"path", "prefix"}) {
      const auto text = with_routes("routes: [{name: a, match: {" + std::string(key) + ": \"" + path + "\"}}]\n");
      const auto column = std::to_string(30 + std::string(key).size());
      EXPECT_TRUE(reports(text, "f:3:" + column + ": warning: routes[0].match." + key, "are no wildcards")) << path;
    }
  }
  for (const char* path : {"/v1/things:batch", "/v1/a*", "/v1/:", "/v1/..*"}) {
    EXPECT_TRUE(is_clean(with_routes("routes: [{name: a, match: {path: \"" + std::string(path) + "\"}}]\n"))) << path;
  }
}

TEST(lease, is_at_least_three_command_timeouts_of_redis) {
  const auto file = [](const char* store, const char* lease) {
    return "upstream: {url: \"http://127.0.0.1:3000\"}\nstore: {type: " + std::string(store) +
           ", redis: {command_timeout: 500ms}}\nroutes: [{name: a, idempotency: {lease: " + lease + "}}]\n";
  };
  EXPECT_TRUE(reports(file("redis", "1499ms"),
                      "f:3:41: error: routes[0].idempotency.lease: 1s499ms is less than three times "
                      "store.redis.command_timeout (500ms), expected at least 1s500ms"));
  EXPECT_TRUE(is_clean(file("redis", "1500ms")));
  EXPECT_TRUE(load_text(file("memory", "200ms"), "f").ok()) << "the memory store has no commands";
}

TEST(lease, is_long_enough_for_a_renewal_to_come_before_it_ends) {
  for (const char* lease : {"10ms", "199ms"}) {
    EXPECT_TRUE(reports(with_block("lease: " + std::string(lease)),
                        "f:7:14: error: routes[0].idempotency.lease: ", "out of range, expected 200ms to 3650d"));
  }
}

TEST(lease, of_the_default_is_judged_as_well) {
  EXPECT_TRUE(
      reports("upstream: {url: \"http://127.0.0.1:3000\"}\nstore: {type: redis, redis: {command_timeout: 6s}}\nroutes: "
              "[{name: a}]\n",
              "f:3:10: error: routes[0].idempotency.lease: 15s is less than three times"));
}

TEST(retention, is_at_least_the_lease) {
  EXPECT_TRUE(reports(with_block("retention: 14s"),
                      "f:7:18: error: routes[0].idempotency.retention: 14s is less than the lease (15s)"));
  EXPECT_TRUE(is_clean(with_block("retention: 15s")));
}

TEST(hold, is_at_least_the_lease) {
  EXPECT_TRUE(
      reports(with_block("hold: 14s"), "f:7:13: error: routes[0].idempotency.hold: 14s is less than the lease (15s)"));
}

TEST(hold, is_the_retention_unless_given) {
  EXPECT_EQ(test::loaded(with_block("retention: 3h")).config->routes[0].idempotency.hold, 3h);
  EXPECT_EQ(test::loaded(with_block("retention: 3h\n      hold: 4h")).config->routes[0].idempotency.hold, 4h);
  EXPECT_EQ(test::loaded(with_block("lease: 10s")).config->routes[0].idempotency.hold, 24h);
}

TEST(hold, shorter_than_the_retention_is_a_warning) {
  EXPECT_TRUE(reports(with_block("hold: 23h"),
                      "f:7:13: warning: routes[0].idempotency.hold: 23h is less than the retention (1d)",
                      "executes again"));
  EXPECT_TRUE(is_clean(with_block("hold: 25h")));
}

TEST(max_stored_body, that_takes_too_long_to_be_written_to_redis_is_a_warning) {
  const auto file = [](const char* store, const char* most) {
    return "upstream: {url: \"http://127.0.0.1:3000\"}\nstore: {type: " + std::string(store) +
           ", redis: {command_timeout: 100ms}}\nroutes: [{name: a, idempotency: {max_stored_body: " + most + "}}]\n";
  };
  EXPECT_TRUE(reports(file("redis", "2MiB"),
                      "f:3:51: warning: routes[0].idempotency.max_stored_body: 2MiB is more than 20 MB/s carry within "
                      "store.redis.command_timeout (100ms)",
                      "is not kept"));
  EXPECT_TRUE(is_clean(file("redis", "2000000B")));
  EXPECT_EQ(test::lines_of(load_text(file("memory", "16MiB"), "f")).size(), 1u) << "that it is the memory store";
}

TEST(retention, may_be_the_sum_of_its_reasons) {
  const auto retention = [](const char* value) {
    return test::loaded(with_block("retention: " + std::string(value))).config->routes[0].idempotency.retention;
  };
  EXPECT_EQ(retention("{client_retries: 24h, delivery_delay: 1h, compensation: 48h}"), 73h);
  EXPECT_EQ(retention("{client_retries: 1h}"), 1h);
  EXPECT_TRUE(
      reports(with_block("retention: {}"), "f:7:18: error: routes[0].idempotency.retention: adds up to nothing"));
  EXPECT_TRUE(reports(with_block("retention: {client_retries: 0s}"),
                      "f:7:18: error: routes[0].idempotency.retention: adds up to nothing"));
  EXPECT_TRUE(reports(with_block("retention: {client_retries: 5}"),
                      "f:7:35: error: routes[0].idempotency.retention.client_retries: \"5\" has no unit"));
  EXPECT_TRUE(reports(
      with_block("retention: {client_retry: 5s}"),
      "f:7:19: error: routes[0].idempotency.retention.client_retry: unknown key (did you mean \"client_retries\"?)"));
  for (const char* part : {"client_retries: 5", "client_retry: 5s"}) {
    const auto lines = test::lines_of(load_text(with_block("retention: {" + std::string(part) + "}"), "f"));
    EXPECT_EQ(lines.size(), 1u) << "no sum of what is faulty: " << testing::PrintToString(lines);
  }
}

TEST(waiting, is_shorter_than_keep_alive) {
  EXPECT_TRUE(reports(with_block("in_flight: {respond: wait, wait: 75s}"),
                      "f:7:40: error: routes[0].idempotency.in_flight.wait: 1m15s is not less than "
                      "server.timeouts.keep_alive (1m15s)"));
  EXPECT_TRUE(is_clean(with_block("in_flight: {respond: wait, wait: 74s}")));
}

TEST(waiting, needs_both_the_choice_and_the_time) {
  EXPECT_TRUE(
      reports(with_block("in_flight: {wait: 5s}"),
              "f:7:25: error: routes[0].idempotency.in_flight.wait: 5s has no effect, expected `respond: wait`"));
  EXPECT_TRUE(reports(with_block("in_flight: {respond: accepted, wait: 5s}"), "f:7:44: error: ", "5s has no effect"));
  EXPECT_TRUE(reports(with_block("in_flight: {respond: wait}"),
                      "f:7:28: error: routes[0].idempotency.in_flight.respond: has no time to wait"));
  EXPECT_TRUE(is_clean(with_block("in_flight: {respond: conflict, wait: 0s}")));
}

TEST(waiting, of_the_defaults_is_dropped_by_a_route_that_does_not_wait) {
  const auto result = test::loaded(
      with_routes("defaults: {in_flight: {respond: wait, wait: 5s}}\nroutes:\n  - {name: a, match: {path: /a}}\n"
                  "  - {name: b, match: {path: /b}, idempotency: {in_flight: {respond: conflict}}}\n"));
  EXPECT_EQ(result.config->routes[0].idempotency.in_flight.wait, 5s);
  EXPECT_EQ(result.config->routes[1].idempotency.in_flight.wait, 0s);
}

TEST(max_processing, is_at_least_the_response_timeout) {
  EXPECT_TRUE(reports(with_block("max_processing: 29s"),
                      "f:7:23: error: routes[0].idempotency.max_processing: max_processing (29s) is less than "
                      "upstream.response_timeout (30s)"));
  EXPECT_TRUE(is_clean(with_block("max_processing: 30s")));
  EXPECT_TRUE(is_clean(with_routes("routes: [{name: a, response_timeout: 2s, idempotency: {max_processing: 2s}}]\n")))
      << "the route's own counts";
  EXPECT_TRUE(reports(with_routes("routes: [{name: a, response_timeout: 11m, idempotency: {lease: 10s}}]\n"),
                      "f:3:38: error: routes[0].response_timeout: max_processing (10m, by default) is less than "
                      "routes[0].response_timeout (11m)"));
  EXPECT_TRUE(reports(
      "upstream: {url: \"http://127.0.0.1:3000\", response_timeout: 11m}\nstore: {type: redis}\nroutes: [{name: a}]\n",
      "f:3:10: error: routes[0].idempotency.max_processing: max_processing (10m, by default) is less than "
      "upstream.response_timeout (11m)"));
}

TEST(response_timeout, of_a_route_is_the_upstreams_unless_given) {
  const auto result = test::loaded(
      "upstream: {url: \"http://127.0.0.1:3000\", response_timeout: 7s}\nroutes: [{name: a, match: {path: /a}}, {name: "
      "b, match: {path: /b}, response_timeout: 3s}]\n");
  EXPECT_EQ(result.config->routes[0].response_timeout, 7s);
  EXPECT_EQ(result.config->routes[1].response_timeout, 3s);
}

TEST(statuses, codes_and_classes_are_read_and_a_code_beats_its_class) {
  const auto statuses = test::loaded(with_block("statuses: {final: [404, 5xx], release: [503], unknown: [409, 3xx]}"))
                            .config->routes[0]
                            .idempotency.statuses;
  EXPECT_EQ(statuses.of(404), disposition::final);
  EXPECT_EQ(statuses.of(500), disposition::final);
  EXPECT_EQ(statuses.of(503), disposition::release);
  EXPECT_EQ(statuses.of(409), disposition::unknown);
  EXPECT_EQ(statuses.of(302), disposition::unknown);
  EXPECT_EQ(statuses.of(200), disposition::by_table);
}

TEST(statuses, what_is_no_status_is_an_error_at_its_place) {
  for (const char* text : {"999", "99", "600", "4xy", "xx", "4XX", "", "0404", "-404", "6xx", "4x4", "40:"}) {
    EXPECT_TRUE(reports(with_block("statuses: {final: [200, \"" + std::string(text) + "\"]}"),
                        "f:7:31: error: routes[0].idempotency.statuses.final[1]: ", "is no status"))
        << text;
  }
}

TEST(statuses, one_that_stands_twice_is_an_error_at_the_second) {
  EXPECT_TRUE(reports(with_block("statuses: {final: [404], unknown: [404]}"),
                      "f:7:42: error: routes[0].idempotency.statuses.unknown[0]: 404 stands in two lists"));
  EXPECT_TRUE(reports(with_block("statuses: {final: [5xx], release: [5xx]}"),
                      "f:7:42: error: routes[0].idempotency.statuses.release[0]: 5xx stands in two lists"));
  EXPECT_TRUE(reports(with_block("statuses: {final: [404, 404]}"),
                      "f:7:31: error: routes[0].idempotency.statuses.final[1]: 404 stands twice in the list"));
  EXPECT_TRUE(is_clean(with_block("statuses: {final: [503], release: [5xx]}")));
}

TEST(statuses, a_list_of_a_route_replaces_that_of_the_defaults) {
  const std::string defaults = "defaults: {statuses: {final: [404], release: [409]}}\n";
  const auto result =
      test::loaded(with_routes(defaults + "routes: [{name: a, idempotency: {statuses: {final: [405]}}}]\n"));
  const auto& statuses = result.config->routes[0].idempotency.statuses;
  EXPECT_EQ(statuses.of(404), disposition::by_table);
  EXPECT_EQ(statuses.of(405), disposition::final);
  EXPECT_EQ(statuses.of(409), disposition::release);
  EXPECT_TRUE(reports(with_routes(defaults + "routes: [{name: a, idempotency: {statuses: {final: [409]}}}]\n"),
                      "f:", "409 stands in two lists"));
}

TEST(mismatch_status, is_one_of_three) {
  for (unsigned status : {422u, 409u, 400u}) {
    EXPECT_EQ(test::loaded(with_block("mismatch_status: " + std::to_string(status)))
                  .config->routes[0]
                  .idempotency.mismatch_status,
              status);
  }
  EXPECT_TRUE(reports(
      with_block("mismatch_status: 418"),
      "f:7:24: error: routes[0].idempotency.mismatch_status: \"418\" is not a choice, expected 422, 409 or 400"));
}

TEST(sizes, of_bodies_are_bounded) {
  EXPECT_TRUE(
      reports(with_block("max_stored_body: 17MiB"),
              "f:7:24: error: routes[0].idempotency.max_stored_body: \"17MiB\" is out of range, expected 0B to 16MiB"));
  EXPECT_TRUE(load_text(with_block("max_stored_body: 16MiB"), "f").ok());
  EXPECT_TRUE(reports(with_block("max_request_body: 2GiB"),
                      "f:7:25: error: routes[0].idempotency.max_request_body: ", "out of range"));
}

TEST(fingerprint, members_are_pointers_where_the_body_is_json) {
  EXPECT_TRUE(reports(with_block("fingerprint: {body: json, exclude: [sent_at]}"),
                      "f:7:43: error: routes[0].idempotency.fingerprint.exclude[0]: \"sent_at\" is no JSON pointer",
                      "expected a / before it"));
  EXPECT_TRUE(reports(with_block("fingerprint: {exclude: [\"/a~2\"]}"),
                      "f:7:31: error: routes[0].idempotency.fingerprint.exclude[0]: ", "RFC 6901"));
  EXPECT_TRUE(reports(with_block("fingerprint: {include: [\"\"]}"),
                      "f:7:31: error: routes[0].idempotency.fingerprint.include[0]: is empty"));
  EXPECT_TRUE(is_clean(with_block("fingerprint: {body: form, exclude: [sent_at, \"/a~2\"]}")));
  EXPECT_TRUE(is_clean(with_block("fingerprint: {body: json, include: [\"/a~1b\", \"/c\"]}")));
}

TEST(fingerprint, members_of_a_body_that_is_not_read_are_an_error) {
  EXPECT_TRUE(reports(with_block("fingerprint: {body: none, exclude: [a]}"),
                      "f:7:42: error: routes[0].idempotency.fingerprint.exclude: has no effect"));
  EXPECT_TRUE(is_clean(with_routes(
      "defaults: {fingerprint: {exclude: [a]}}\nroutes: [{name: a, idempotency: {fingerprint: {body: none}}}]\n")))
      << "a default that one route has no use for";
}

TEST(statuses, that_release_a_success_are_a_warning) {
  for (const char* status : {"2xx", "201"}) {
    EXPECT_TRUE(reports(with_block("statuses: {release: [404, " + std::string(status) + "]}"),
                        "f:7:33: warning: routes[0].idempotency.statuses.release[1]: frees the key after a success"));
  }
  EXPECT_TRUE(is_clean(with_block("statuses: {release: [3xx, 5xx, 404], final: [2xx], unknown: [202]}")));
  EXPECT_TRUE(is_clean(with_block("mode: off\n      statuses: {release: [2xx]}")));
}

TEST(fingerprint, filters_nothing_of_a_multipart_body) {
  EXPECT_TRUE(reports(with_block("fingerprint: {body: multipart, exclude: [a]}"),
                      "f:7:47: error: routes[0].idempotency.fingerprint.exclude: has no effect"));
  EXPECT_TRUE(is_clean(with_block("fingerprint: {body: multipart, exclude: []}")));
}

TEST(fingerprint, members_are_not_named_by_jsonpath) {
  for (const char* path : {"$.id", "$['id']"}) {
    EXPECT_TRUE(reports(with_block("fingerprint: {exclude: [\"" + std::string(path) + "\"]}"),
                        "f:7:31: error: routes[0].idempotency.fingerprint.exclude[0]: ", "is JSONPath"));
  }
  EXPECT_TRUE(is_clean(with_block("fingerprint: {body: form, exclude: [\"$.id\"]}"))) << "a field may have any name";
  EXPECT_TRUE(is_clean(with_block("fingerprint: {exclude: [\"$id\"]}")));
}

TEST(fingerprint, as_a_key_without_the_body_is_a_warning) {
  constexpr auto warning = "warning: routes[0].idempotency.key.from[1]: the fingerprint is a key";
  EXPECT_TRUE(reports(with_block("key: {from: [\"header:X\", fingerprint]}\n      fingerprint: {body: none}"),
                      "f:7:32: " + std::string(warning), "never executes"));
  EXPECT_TRUE(reports(with_block("preset: slack\n      key: {from: [[\"json:/a\", \"json:/b\"], fingerprint]}"),
                      "f:8:44: " + std::string(warning)));
  EXPECT_TRUE(is_clean(with_block("key: {from: [fingerprint]}")));
  EXPECT_TRUE(is_clean(with_block("key: {from: [[\"header:X\", fingerprint]]}\n      fingerprint: {body: none}")))
      << "another part tells them apart";
}

TEST(header_names, must_be_names) {
  EXPECT_TRUE(
      reports(with_block("fingerprint: {headers: [\"A B\"]}"),
              "f:7:31: error: routes[0].idempotency.fingerprint.headers[0]: \"A B\" is no name of a header field"));
  EXPECT_TRUE(reports(with_block("replay_headers: {drop: [\"Set-Cookie:\"]}"),
                      "f:7:31: error: routes[0].idempotency.replay_headers.drop[0]: ", "is no name of a header field"));
}

TEST(scope, without_the_caller_is_a_warning) {
  for (const char* scope : {"[]", "[\"header:X-Tenant\"]", "[\"const:a\", \"cookie:sid\"]"}) {
    EXPECT_TRUE(reports(with_block("scope: " + std::string(scope)),
                        "f:7:14: warning: routes[0].idempotency.scope: has neither credential, jwt nor mtls"))
        << scope;
  }
  EXPECT_TRUE(is_clean(with_block("scope: [credential, \"const:a\"]")));
  EXPECT_TRUE(is_clean(with_block("scope: []\n      mode: off")));
}

TEST(scope, of_a_constant_alone_is_a_warning_that_says_who_shares) {
  EXPECT_TRUE(reports(with_block("scope: [\"const:all\"]"),
                      "f:7:14: warning: routes[0].idempotency.scope: with const: alone all callers share"));
}

TEST(scope, of_credentials_is_a_warning_where_tokens_are_verified) {
  const std::string jwt = "jwt: {jwks_file: \"" IDEM_SOURCE_DIR "/config/tokens.jwks.json\"}";
  const char* warning = "with credential a refreshed token is another caller";
  EXPECT_TRUE(reports(with_block("scope: [credential]\n      " + jwt),
                      "f:7:14: warning: routes[0].idempotency.scope: ", warning));
  EXPECT_TRUE(reports(with_block("scope: [\"jwt:sub\", credential]\n      " + jwt), "f:7:14: warning: ", warning));
  EXPECT_TRUE(reports(with_block(jwt), "f:4:5: warning: routes[0].idempotency.scope: ", warning)) << "by default";
  EXPECT_TRUE(is_clean(with_block("scope: [\"jwt:sub\"]\n      " + jwt)));
  EXPECT_TRUE(is_clean(with_block("mode: off\n      " + jwt)));
  EXPECT_TRUE(is_clean(with_block("scope: [credential]"))) << "who knows how long those live";
}

TEST(defaults, hold_for_routes_that_do_not_say_otherwise) {
  const auto result = test::loaded(with_routes(
      "defaults:\n  mismatch_status: 400\n  key: {required: true}\n  retention: 2h\n  replay_headers: {drop: "
      "[Set-Cookie]}\n"
      "routes:\n  - {name: a, match: {path: /a}}\n  - name: b\n    match: {path: /b}\n"
      "    idempotency: {mismatch_status: 422, key: {max_length: 9}, hold: 3h, replay_headers: {drop: []}}\n"));
  const auto& a = result.config->routes[0].idempotency;
  const auto& b = result.config->routes[1].idempotency;
  EXPECT_EQ(a.mismatch_status, 400u);
  EXPECT_EQ(a.hold, 2h);
  EXPECT_EQ(a.replay_drop, std::vector<std::string>{"Set-Cookie"});
  EXPECT_EQ(b.mismatch_status, 422u);
  EXPECT_TRUE(b.key.required) << "a map of the route keeps what it does not name";
  EXPECT_EQ(b.key.max_length, 9u);
  EXPECT_EQ(b.retention, 2h);
  EXPECT_EQ(b.hold, 3h);
  EXPECT_TRUE(b.replay_drop.empty());
}

TEST(name_space, is_the_routes_name_unless_given) {
  const auto result = test::loaded(with_routes(
      "routes: [{name: a, match: {path: /a}}, {name: b, match: {path: /b}, idempotency: {namespace: Old}}]\n"));
  EXPECT_EQ(result.config->routes[0].idempotency.name_space, "a");
  EXPECT_EQ(result.config->routes[1].idempotency.name_space, "Old");
  EXPECT_TRUE(reports(with_block("namespace: \"a b\""), "f:7:18: error: routes[0].idempotency.namespace: "));
}

}  // namespace
}  // namespace idem::config
