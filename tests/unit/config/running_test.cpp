// A file that a running process is to take up, beside what that process keeps until it ends.
#include <gtest/gtest.h>

#include "unit/config/support.hpp"

namespace idem::config {
namespace {

/// The findings about `next` in a process that was started with `started`.
std::string found(const std::string& started, const std::string& next) {
  const auto running = test::loaded(started).config;
  std::string text;
  if (!running) return "none runs";
  for (const finding& f : load_text(next, "f", running.get()).findings) {
    if (f.level == finding::severity::error) text += f.text() + "\n";
  }
  return text;
}

std::string with(const std::string& store, const std::string& lease) {
  return "upstream: {url: \"http://127.0.0.1:3000\"}\nstore: {" + store +
         "}\nroutes: [{name: a, idempotency: {lease: " + lease + "}}]\n";
}
std::string on_redis(const std::string& command_timeout, const std::string& lease) {
  return with("type: redis, redis: {command_timeout: " + command_timeout + "}", lease);
}

TEST(a_reload, takes_no_lease_that_is_too_short_for_the_store_that_goes_on) {
  EXPECT_EQ(found(on_redis("2s", "15s"), on_redis("250ms", "1s")),
            "f:3:41: error: routes[0].idempotency.lease: 1s is less than three times the store.redis.command_timeout "
            "that this process has until it is restarted (2s), expected at least 6s\n");
  EXPECT_EQ(found(on_redis("2s", "15s"), on_redis("250ms", "6s")), "");
  EXPECT_NE(found(on_redis("2s", "15s"), with("type: memory", "1s")), "") << "redis runs on";
  EXPECT_EQ(found(with("type: memory", "1s"), on_redis("250ms", "1s")), "");
}

TEST(a_reload, takes_no_lease_that_is_too_short_after_a_restart_either) {
  const auto text = found(on_redis("250ms", "15s"), on_redis("2s", "1s"));
  EXPECT_EQ(text,
            "f:3:41: error: routes[0].idempotency.lease: 1s is less than three times store.redis.command_timeout (2s), "
            "expected at least 6s\n");
}

TEST(a_reload, takes_no_upstream_that_is_the_process_itself) {
  const auto file = [](const std::string& listen, const std::string& admin, const std::string& upstream) {
    return "server: {listen: [\"" + listen + "\"]}\nadmin: {listen: \"" + admin + "\"}\nupstream: {url: \"" + upstream +
           "\"}\n";
  };
  const std::string started = file("0.0.0.0:8080", "127.0.0.1:9911", "http://127.0.0.1:3000");
  for (const char* own : {"http://127.0.0.1:8080", "http://localhost:9911"}) {
    EXPECT_EQ(found(started, file("127.0.0.1:8081", "127.0.0.1:9912", own)),
              "f:3:17: error: upstream.url: is an address that this process listens on until it is restarted, expected "
              "the application's\n");
  }
  EXPECT_EQ(found(started, file("127.0.0.1:8081", "127.0.0.1:9911", "http://127.0.0.1:3001")), "");
  EXPECT_EQ(found(started, file("127.0.0.1:8080", "127.0.0.1:9911", "http://127.0.0.1:8080")),
            "f:3:17: error: upstream.url: is the proxy's own address \"127.0.0.1:8080\" of server.listen, expected the "
            "application's\n")
      << "said once";
}

}  // namespace
}  // namespace idem::config
