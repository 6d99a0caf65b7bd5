// How often the program asks for memory while it serves requests on one connection, in steady state, by path. Each
// bound is what was measured when it was written; it goes down when the code gets better, never up.
//
// To see who allocates, set IDEM_ALLOCATION_TRACE=FILE: FILE.<path> then holds the stacks of twenty requests, which
// tests/allocations/stacks.py groups and names.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "allocations/counted_proxy.hpp"
#include "support/redis_server.hpp"
#include "support/scripted_backend.hpp"

namespace idem::test {
namespace {

/// Calls of malloc and its relatives for each request, in a release build.
constexpr double pass_through_bound = 0;
constexpr double replay_redis_bound = 0;
constexpr double replay_memory_bound = 0;
constexpr double first_redis_bound = 0;
/// The record's own: name, two values, and a node in each of two tables.
constexpr double first_memory_bound = 5.05;
/// The same with the access log, whose thread allocates as well, more or less often as the lines come.
constexpr double logged_pass_through_bound = 0.1;

/// Timers and other work in the background allocate now and then.
constexpr double tolerance = 0.05;

constexpr int warm_up = 300, counted = 1000, traced = 20;

std::string get(int) {
  return "GET /v1/balance?expand=1 HTTP/1.1\r\nHost: api.example\r\nUser-Agent: shop/2.1\r\nAccept: */*\r\n"
         "Accept-Encoding: gzip, deflate\r\nAuthorization: Bearer c2VjcmV0c2VjcmV0c2VjcmV0\r\n"
         "X-Request-Id: 5f0c2f4e-9a1b-4c7d-8e3f-0a1b2c3d4e5f\r\n\r\n";
}

std::string post(const std::string& key) {
  const std::string body =
      R"({"amount":1999,"currency":"eur","customer":"cus_4QFJOjw2pOmAGJ","description":"An order"})";
  return "POST /v1/charges HTTP/1.1\r\nHost: api.example\r\nUser-Agent: shop/2.1\r\nAccept: */*\r\n"
         "Accept-Encoding: gzip, deflate\r\nAuthorization: Bearer c2VjcmV0c2VjcmV0c2VjcmV0\r\n"
         "Content-Type: application/json\r\nIdempotency-Key: " +
         key + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// 36 characters, as clients make them.
std::string key(int n) {
  char text[40];
  std::snprintf(text, sizeof text, "5f0c2f4e-9a1b-4c7d-8e3f-%012d", n);
  return text;
}

class allocations : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(IDEM_SANITIZED)
    GTEST_SKIP() << "sanitizers bring a malloc of their own: allocations are counted in builds without them";
#elif !defined(IDEM_RELEASE)
    GTEST_SKIP() << "the bounds are those of release builds";
#endif
    backend_.on("*", reply(201, R"({"id":"ch_3MmlLrLkdIwHu7ix0snN0B15","status":"succeeded"})",
                           {"Content-Type: application/json", "Date: Sun, 29 Nov 2026 12:00:00 GMT",
                            "Location: /v1/charges/ch_3MmlLrLkdIwHu7ix0snN0B15"}));
  }

  proxy_settings settings(bool with_redis, bool access_log = false) {
    proxy_settings s;
    s.upstream = backend_.url();
    s.routes = {
        "{name: charges, match: {prefix: /v1/, methods: [POST]}, "
        "idempotency: {retention: 24h, lease: 15s}}"};
    s.server_more = "threads: 1";
    s.more = std::string("logging: {level: warn, access: ") + (access_log ? "true" : "false") + "}";
    if (with_redis) s.redis_port = redis_.emplace().port();
    return s;
  }

  /// Prints and returns the mean of allocations for a request.
  double measure(proxy_settings s, const std::string& name, const std::function<std::string(int)>& request) {
    counted_proxy counted_program(std::move(s), name);
    auto client = counted_program.proxy().connect();
    int n = 0;
    const auto run = [&](int times) {
      for (int i = 0; i < times; ++i) {
        client.send(request(n++));
        const auto answer = client.read();
        ASSERT_TRUE(answer.whole() && answer.status == 201) << answer.status << " " << answer.body;
      }
    };
    auto& counter = counted_program.counter();
    run(warm_up);
    const auto calls = counter.calls(), bytes = counter.bytes();
    EXPECT_GT(calls, 0u) << "nothing is counted: the library was not loaded";
    run(counted);
    const auto each = [](std::uint64_t before, std::uint64_t after) {
      return static_cast<double>(after - before) / counted;
    };
    const double mean = each(calls, counter.calls());
    std::printf("%-22s %7.3f allocations, %9.1f bytes for each request\n", name.c_str(), mean,
                each(bytes, counter.bytes()));
    RecordProperty("allocations", std::to_string(mean));
    if (counted_program.traced()) {
      counter.trace(true);
      run(traced);
      counter.trace(false);
    }
    return mean;
  }

  scripted_backend backend_;
  std::optional<redis_server> redis_;
};

const auto same_key = [](int) { return post(key(7)); };
const auto new_key = [](int n) { return post(key(n)); };

TEST_F(allocations, of_what_passes_through) {
  EXPECT_LE(measure(settings(true), "pass-through", get), pass_through_bound + tolerance);
}

TEST_F(allocations, of_what_passes_through_with_the_access_log) {
  EXPECT_LE(measure(settings(true, true), "pass-through-logged", get), logged_pass_through_bound + tolerance);
}

TEST_F(allocations, of_a_replay_from_redis) {
  EXPECT_LE(measure(settings(true), "replay-redis", same_key), replay_redis_bound + tolerance);
  EXPECT_EQ(backend_.count(), 1u);
}

TEST_F(allocations, of_a_replay_from_memory) {
  EXPECT_LE(measure(settings(false), "replay-memory", same_key), replay_memory_bound + tolerance);
  EXPECT_EQ(backend_.count(), 1u);
}

TEST_F(allocations, of_a_first_request_with_redis) {
  EXPECT_LE(measure(settings(true), "first-redis", new_key), first_redis_bound + tolerance);
  EXPECT_GE(backend_.count(), std::size_t{warm_up + counted});
}

TEST_F(allocations, of_a_first_request_with_memory) {
  EXPECT_LE(measure(settings(false), "first-memory", new_key), first_memory_bound + tolerance);
  EXPECT_GE(backend_.count(), std::size_t{warm_up + counted});
}

}  // namespace
}  // namespace idem::test
