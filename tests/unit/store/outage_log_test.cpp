#include "store/redis/outage_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace idem::store::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What all of an outage's lines say.
std::string lines_about(const config::endpoint& server) {
  outage_log log("store", server);
  ::testing::internal::CaptureStderr();
  log.down("no connection in time");
  log.still_down("the server refuses commands");
  log.up();
  log.writes_refused();
  log.writes_accepted();
  return ::testing::internal::GetCapturedStderr();
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(outage_log, names_the_server_in_each_line_and_never_what_else_its_url_holds) {
  const auto lines = lines_about({"redis.internal", 6379, {}, "user:s3cret@redis.internal"});
  EXPECT_EQ(count(lines, R"("address":"redis.internal:6379")"), 5u) << lines;
  EXPECT_THAT(lines, Not(HasSubstr("s3cret")));
}

TEST(outage_log, names_a_socket_by_its_path_and_a_v6_address_in_brackets) {
  EXPECT_THAT(lines_about({"", 0, "/run/redis.sock", ""}), HasSubstr(R"("address":"unix:/run/redis.sock")"));
  EXPECT_THAT(lines_about({"::1", 6380, {}, ""}), HasSubstr(R"("address":"[::1]:6380")"));
}

}  // namespace
}  // namespace idem::store::redis
