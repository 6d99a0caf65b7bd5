// What the access log says of a request: the decision, the status and the bytes of the body that the client was sent.
#include <sstream>

#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

class access_log : public scenario {
 protected:
  /// A line with this decision, and with the status and the body of the answer that the client has.
  ::testing::AssertionResult tells(std::string_view decision, const http_response& r) const {
    const std::string what = "\"decision\":\"" + std::string(decision) + "\"",
                      wanted = what + ",\"status\":" + std::to_string(r.status) + ",",
                      bytes = "\"bytes_out\":" + std::to_string(r.body.size()) + ",";
    std::string seen;
    const bool found = eventually([&] {
      std::istringstream lines(proxy->log());
      for (std::string line; std::getline(lines, line);) {
        if (line.find(what) != line.npos) seen = line;
        if (line.find(wanted) != line.npos && line.find(bytes) != line.npos) return true;
      }
      return false;
    });
    if (found) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "no line with " << wanted << " and " << bytes << "; the last: " << seen;
  }
};

TEST_F(access_log, counts_the_body_of_every_answer_that_is_sent) {
  backend.on("*", raw(answer_bytes(201, "{\"id\":\"ch_1\"}")));
  start();
  const auto first = post("k");
  EXPECT_TRUE(is_fresh(first, 201));
  EXPECT_TRUE(tells("executed", first));
  const auto again = post("k");
  EXPECT_TRUE(is_replay(again, first));
  EXPECT_TRUE(tells("replayed", again));
  const auto other = post("k", "{\"amount\":2}");
  EXPECT_EQ(other.status, 422);
  EXPECT_TRUE(tells("mismatch", other));
}

TEST_F(access_log, counts_what_was_sent_and_not_what_is_stored) {
  backend.on("*", raw(answer_bytes(201, std::string(5000, 'x'))));
  start("max_stored_body: 1KiB, oversize: status_only");
  const auto first = post("k");
  EXPECT_TRUE(is_fresh(first, 201));
  EXPECT_TRUE(tells("executed", first));
  const auto again = post("k");
  EXPECT_EQ(again.body, "");
  EXPECT_TRUE(tells("answer_not_kept", again));
}

TEST_F(access_log, counts_the_answer_that_stands_in_for_the_backends) {
  backend.on("*", raw_then_close("HTTP/1.1 201 Cre"));
  start();
  const auto r = post("k");
  EXPECT_EQ(r.status, 502);
  EXPECT_TRUE(tells("upstream_failed", r));
}

TEST_F(access_log, tells_of_a_504_while_the_call_goes_on_and_not_again_at_its_end) {
  gate answer;
  backend.on("*", held(answer, reply(201, "late")));
  auto s = settings();
  s.routes = {"{name: api, response_timeout: 300ms, idempotency: {}}"};
  start(s);
  const auto first = post("k");
  EXPECT_EQ(first.status, 504);
  EXPECT_TRUE(tells("upstream_timeout", first));
  const std::string_view sample = R"(idempotency_proxy_requests_total{route="api",decision="upstream_timeout"})";
  EXPECT_EQ(proxy->metric(sample), 1);
  answer.open();
  http_response late;
  EXPECT_TRUE(eventually([&] { return (late = post("k")).status == 201; }));
  EXPECT_TRUE(tells("replayed", late));
  EXPECT_EQ(proxy->metric(sample), 1);
  const auto log = proxy->log();
  EXPECT_EQ(log.find("upstream_timeout"), log.rfind("upstream_timeout")) << log;
  EXPECT_EQ(log.find("\"decision\":\"executed\""), log.npos) << log;
}

TEST_F(access_log, says_why_a_request_is_malformed_and_nothing_of_what_it_held) {
  start();
  const auto refused = [&](std::string_view bytes) {
    auto client = proxy->connect();
    client.send(bytes);
    EXPECT_EQ(client.read().status, 400) << bytes;
  };
  const auto told = [&](std::string_view reason, std::size_t times = 1) {
    const std::string field = "\"reason\":\"" + std::string(reason) + "\"";
    return eventually([&] {
      const auto log = proxy->log();
      std::size_t n = 0;
      for (auto at = log.find(field); at != log.npos; at = log.find(field, at + 1)) ++n;
      return n == times;
    });
  };
  refused("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 1s3cret\r\n\r\n");
  EXPECT_TRUE(told("Content-Length is not one decimal number, or stands beside Transfer-Encoding"));
  refused("POST / HTTP/1.1\r\nHost: test\r\nConnection: idempotency-key\r\n\r\n");
  EXPECT_TRUE(told("Connection names a field that must reach the backend"));
  for (std::string_view key : {"Idempotency-Key: k\r\n", ""}) {
    refused("POST / HTTP/1.1\r\nHost: test\r\n" + std::string(key) + "Transfer-Encoding: chunked\r\n\r\ns3cret\r\n");
  }
  EXPECT_TRUE(told("the body breaks its framing", 2)) << "on its way through, and before a claim";
  EXPECT_EQ(proxy->log().find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace idem::test
