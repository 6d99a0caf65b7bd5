// Sequences that made other proxies see another number of requests than their backends did.
#include <gtest/gtest.h>

#include "unit/http/conversation.hpp"

namespace idem::http::testing {
namespace {

using namespace std::string_literals;

std::string understood(std::string_view raw) {
  const auto summaries = every_way([] { return hearing_requests(); }, raw);
  EXPECT_EQ(summaries.size(), 1u);
  return summaries.front().substr(0, summaries.front().rfind(" / "));
}

TEST(smuggling, a_request_behind_an_unknown_coding_is_never_reached) {
  EXPECT_EQ(understood("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\nGET /x HTTP/1.1\r\n\r\n"),
            "400");
}

TEST(smuggling, chunks_in_1_0_are_refused) {
  EXPECT_EQ(understood("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "400");
}

TEST(smuggling, both_framings_are_refused_in_either_order_and_with_odd_spaces) {
  EXPECT_EQ(understood("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 13\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\nHost: t\r\n\r\n"),
            "400");
  EXPECT_EQ(
      understood("POST / HTTP/1.1\r\nHost: t\r\ntransfer-encoding: chunked\t\r\ncontent-length: 60\r\n\r\n0\r\n\r\n"),
      "400");
  EXPECT_EQ(understood("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nGET "
                       "/ HTTP/1.1\r\nHost: gotcha\r\n\r\n\r\n0\r\n\r\n"),
            "400");
}

TEST(smuggling, a_closing_request_leaves_what_follows_unread) {
  EXPECT_EQ(understood("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nInvalid\r\n\r\n"),
            "GET / none close + Invalid\r\n\r\n");
}

TEST(smuggling, a_trailer_that_looks_like_a_request_is_a_trailer) {
  EXPECT_EQ(
      understood("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX:POST / HTTP/1.1\r\n\r\n"),
      "POST / chunked =  [X:POST / HTTP/1.1\r\n]");
}

TEST(smuggling, trailers_change_nothing_of_the_connection) {
  const auto trailers =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nConnection: close\r\nUpgrade: x\r\n\r\n";
  EXPECT_EQ(understood(trailers), "POST / chunked = ");
}

TEST(smuggling, an_empty_line_between_chunks_is_refused) {
  EXPECT_EQ(understood("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n3\r\nabc\r\n\r\n17\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\n\r\n0\r\n\r\n"),
            "POST / chunked = abc ! a chunk size is missing or not hexadecimal");
}

TEST(smuggling, a_nul_in_host_is_refused) {
  EXPECT_EQ(understood("GET / HTTP/1.1\r\nHost: google.com\0.x\r\n\r\n"s), "400");
}

TEST(smuggling, two_lengths_are_refused) {
  EXPECT_EQ(understood("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\nHELLO"), "400");
}

TEST(smuggling, a_length_cannot_be_made_hop_by_hop) {
  EXPECT_EQ(understood("POST / HTTP/1.1\r\nHost: a\r\nConnection: Content-Length\r\nContent-Length: 4\r\n\r\nasdf"),
            "400");
}

TEST(smuggling, an_answer_with_both_framings_is_refused) {
  const auto both = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n0\r\n\r\n";
  EXPECT_EQ(every_way([] { return hearing_responses("GET"); }, both).front().substr(0, 3), "502");
}

TEST(body_size, is_not_limited_by_the_gate) {
  std::string raw = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n";
  auto heard = hearing_requests();
  heard.hear(raw);
  heard.hear(std::string(9000000, 'x'));
  EXPECT_EQ(heard.summary().size(), "POST / length 9000000 = "s.size() + 9000000);
}

}  // namespace
}  // namespace idem::http::testing
