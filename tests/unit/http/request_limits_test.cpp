#include <gtest/gtest.h>

#include "http/head_scan.hpp"
#include "unit/http/conversation.hpp"

namespace idem::http::testing {
namespace {

/// Feeds byte by byte and says after how many bytes the verdict came, and which.
struct early {
  std::size_t bytes = 0;
  unsigned status = 0;
};

early first_refusal(std::string_view raw, head_limits limits) {
  request_parser parser(limits);
  for (std::size_t n = 1; n <= raw.size(); ++n) {
    if (parser.parse(raw.substr(0, n)) == parse_result::rejected) return {n, parser.why().status};
  }
  return {};
}

unsigned refusal_in_one_piece(std::string_view raw, head_limits limits) {
  request_parser parser(limits);
  return parser.parse(raw) == parse_result::rejected ? parser.why().status : 0;
}

constexpr head_limits small{200, 3, 20};

TEST(request_limits, an_endless_target_is_refused_before_its_line_is_complete) {
  const std::string raw = "GET /" + std::string(500, 'a');
  const early e = first_refusal(raw, small);
  EXPECT_EQ(e.status, 414u);
  EXPECT_EQ(e.bytes, 4u + 20 + 1);
  EXPECT_EQ(refusal_in_one_piece(raw, small), 414u);
}

TEST(request_limits, a_target_of_exactly_the_limit_passes) {
  const std::string target = "/" + std::string(19, 'a');
  EXPECT_EQ(refusal_in_one_piece("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n", small), 0u);
  EXPECT_EQ(refusal_in_one_piece("GET " + target + "a HTTP/1.1\r\nHost: a\r\n\r\n", small), 414u);
}

TEST(request_limits, an_endless_head_is_refused_at_its_limit) {
  const std::string raw = "GET / HTTP/1.1\r\nX: " + std::string(500, 'a');
  const early e = first_refusal(raw, small);
  EXPECT_EQ(e.status, 431u);
  EXPECT_EQ(e.bytes, 200u);
  EXPECT_EQ(refusal_in_one_piece(raw, small), 431u);
}

TEST(request_limits, a_head_of_exactly_the_limit_passes) {
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  const std::string fitting = start + std::string(200 - start.size() - 4, 'a') + "\r\n\r\n";
  ASSERT_EQ(fitting.size(), 200u);
  EXPECT_EQ(refusal_in_one_piece(fitting, small), 0u);
  EXPECT_EQ(refusal_in_one_piece(fitting + "the body", small), 0u);
  EXPECT_EQ(refusal_in_one_piece(start + std::string(200 - start.size() - 3, 'a') + "\r\n\r\n", small), 431u);
}

TEST(request_limits, fields_are_counted_before_the_head_is_whole) {
  const std::string three = "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\n";
  EXPECT_EQ(refusal_in_one_piece(three + "\r\n", small), 0u);
  EXPECT_EQ(refusal_in_one_piece(three + "X: 3\r\n", small), 431u);
  EXPECT_EQ(first_refusal(three + "X: 3\r\n", small).bytes, three.size() + 6);
}

TEST(request_limits, junk_behind_a_long_target_is_refused_before_the_line_ends) {
  const std::string raw = "GET /" + std::string(15, 'a') + " " + std::string(150, 'b');
  EXPECT_EQ(first_refusal(raw, small).status, 400u);
  EXPECT_LT(first_refusal(raw, small).bytes, 40u);
}

TEST(request_limits, the_verdict_is_the_same_however_the_bytes_are_cut) {
  const std::string cases[] = {
      "GET /" + std::string(30, 'a') + "\n",
      "GET /" + std::string(19, 'a') + "\r\n\r\n",
      "GET /" + std::string(19, 'a') + " HTTP/1.10\r\n\r\n",
      std::string(70, 'M') + "( / HTTP/1.1\r\n",
      "GET / HTTP/1.1\r\nX: 1\nX: 2\r\n\r\n",
      "GET / HTTP/1.1\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\n\r\n",
      "GET / HTTP/1.1\r\nX: " + std::string(179, 'a') + "\n\r\n",
      "GET / HTTP/1.1\r\nX: " + std::string(180, 'a') + "\n\r\n",
      "GET / HTTP/1.1\r\nX: " + std::string(181, 'a') + "\n\r\n",
  };
  for (const std::string& raw : cases) {
    SCOPED_TRACE(raw);
    EXPECT_EQ(every_way([] { return hearing_requests(small); }, raw).size(), 1u);
  }
}

TEST(request_limits, a_head_that_comes_byte_by_byte_is_searched_once) {
  const first_line_rules any{[](std::string_view, const head_limits&) { return rejection{0, {}}; },
                             [](std::string_view, const head_limits&) { return rejection{0, {}}; }};
  const std::string raw = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(5000, 'a');
  head_scan scan;
  rejection why;
  for (std::size_t n = 1; n <= raw.size(); ++n) {
    ASSERT_EQ(scan_head(std::string_view(raw).substr(0, n), scan, {}, any, why), parse_result::need_more);
    ASSERT_EQ(scan.next, n);
  }
}

}  // namespace
}  // namespace idem::http::testing
