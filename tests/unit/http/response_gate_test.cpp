#include <gtest/gtest.h>

#include "unit/http/conversation.hpp"

namespace idem::http::testing {
namespace {

using namespace std::string_view_literals;

struct parsed {
  std::string bytes;
  response_parser parser;
  parse_result result;

  explicit parsed(std::string raw, std::string_view method = "GET") : bytes(std::move(raw)) {
    result = parser.parse(bytes, method);
  }
  bool complete() const { return result == parse_result::complete; }
  bool rejected() const { return result == parse_result::rejected && parser.why().status == 502; }
  const response_head& head() const { return parser.head(); }
};

parsed with_line(std::string_view line) { return parsed(std::string(line) + "\r\nContent-Length: 0\r\n\r\n"); }
parsed with_fields(std::string_view fields, unsigned status = 200, std::string_view method = "GET") {
  return parsed("HTTP/1.1 " + std::to_string(status) + " x\r\n" + std::string(fields) + "\r\n", method);
}

TEST(status_line, the_reason_is_kept_as_it_came) {
  EXPECT_EQ(with_line("HTTP/1.1 200 ").head().reason, "");
  EXPECT_EQ(with_line("HTTP/1.1 404 Not  here\t\xe9").head().reason, "Not  here\t\xe9");
  EXPECT_EQ(with_line("HTTP/1.0 299 x").head().minor, 0u);
  EXPECT_EQ(with_line("HTTP/1.1 299 x").head().status, 299u);
}

TEST(status_line, a_missing_space_after_the_code_is_refused_in_so_many_words) {
  const parsed p = with_line("HTTP/1.1 200");
  EXPECT_TRUE(p.rejected());
  EXPECT_NE(p.parser.why().reason.find("space after the status code"), std::string_view::npos);
}

TEST(status_line, malformed_lines_are_refused) {
  for (std::string_view line : {"HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20 x", "HTTP/1.1 2000 x", "HTTP/1.1  200 x",
                                "HTTP/1.1 099 x", "HTTP/1.1 000 x", "HTTP/1.1 600 x", "HTTP/1.1 999 x",
                                "HTTP/1.1 2x0 x", "HTTP/1.1\t200 x", "HTTP/1.2 200 x", "HTTP/2.0 200 x", "HTTP/2 200 x",
                                "http/1.1 200 x", " HTTP/1.1 200 x", "", "HTTP/1.1 200 a\rb", "HTTP/1.1 200 a\x01"}) {
    EXPECT_TRUE(with_line(line).rejected()) << line;
  }
  EXPECT_TRUE(with_line("HTTP/1.1 200 a\0b"sv).rejected());
}

TEST(status_line, another_protocol_is_refused_by_its_first_bytes) {
  for (std::string_view bytes : {"\x15\x03\x01"sv, "\x00\x00\x12\x04"sv, "h"sv, "HTTQ"sv, "HTTP/2"sv, "HTTP/1.2"sv,
                                 "\r\n"sv, "SSH-2.0"sv, "+OK"sv}) {
    EXPECT_TRUE(parsed(std::string(bytes)).rejected()) << bytes;
  }
  for (std::string_view bytes : {""sv, "H"sv, "HTTP/"sv, "HTTP/1."sv, "HTTP/1.1"sv}) {
    EXPECT_EQ(parsed(std::string(bytes)).result, parse_result::need_more) << bytes;
  }
}

TEST(response_framing, both_framings_are_refused_whatever_the_request_was) {
  constexpr auto both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
  constexpr auto turned = "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n";
  constexpr auto gzip = "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n";
  for (auto fields : {both, turned, gzip}) {
    EXPECT_TRUE(with_fields(fields).rejected()) << fields;
    EXPECT_TRUE(with_fields(fields, 200, "HEAD").rejected()) << fields;
    EXPECT_TRUE(with_fields(fields, 304).rejected()) << fields;
  }
}

TEST(response_framing, bad_lengths_and_unknown_codings_are_refused) {
  for (std::string_view fields :
       {"Content-Length: x\r\n", "Content-Length:\r\n", "Content-Length: 05\r\n", "Content-Length: 5, 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: -1\r\n", "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding:\r\n", "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"}) {
    EXPECT_TRUE(with_fields(fields).rejected()) << fields;
  }
  EXPECT_TRUE(parsed("HTTP/1.0 200 x\r\nTransfer-Encoding: chunked\r\n\r\n").rejected());
}

TEST(response_framing, answers_without_a_body_end_at_their_blank_line) {
  EXPECT_EQ(with_fields("Content-Length: 5\r\n", 200, "HEAD").head().body.kind, framing_kind::none);
  EXPECT_EQ(with_fields("Transfer-Encoding: chunked\r\n", 200, "HEAD").head().body.kind, framing_kind::none);
  EXPECT_EQ(with_fields("", 200, "HEAD").head().body.kind, framing_kind::none);
  for (unsigned status : {100u, 103u, 199u, 204u, 304u}) {
    EXPECT_EQ(with_fields("Content-Length: 5\r\n", status).head().body.kind, framing_kind::none) << status;
    EXPECT_EQ(with_fields("", status).head().body.kind, framing_kind::none) << status;
  }
  EXPECT_EQ(with_fields("", 200, "CONNECT").head().body.kind, framing_kind::none);
  EXPECT_EQ(with_fields("Content-Length: 5\r\n", 403, "CONNECT").head().body.length, 5u);
}

TEST(response_framing, without_framing_fields_the_connection_is_the_frame) {
  const parsed p = with_fields("");
  EXPECT_EQ(p.head().body.kind, framing_kind::until_close);
  EXPECT_FALSE(p.head().keep_alive);
}

TEST(response_reuse, follows_version_and_connection) {
  EXPECT_TRUE(with_fields("Content-Length: 5\r\n").head().keep_alive);
  EXPECT_TRUE(with_fields("", 204).head().keep_alive);
  EXPECT_TRUE(with_fields("", 200, "HEAD").head().keep_alive);
  EXPECT_FALSE(with_fields("Content-Length: 5\r\nConnection: Close\r\n").head().keep_alive);
  EXPECT_FALSE(parsed("HTTP/1.0 200 x\r\nContent-Length: 5\r\n\r\n").head().keep_alive);
  EXPECT_TRUE(parsed("HTTP/1.0 200 x\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n").head().keep_alive);
  EXPECT_FALSE(parsed("HTTP/1.0 200 x\r\nConnection: keep-alive\r\n\r\n").head().keep_alive);
}

TEST(response_reuse, a_204_that_announces_a_body_ends_the_connection) {
  EXPECT_FALSE(with_fields("Content-Length: 5\r\n", 204).head().keep_alive);
  EXPECT_FALSE(with_fields("Transfer-Encoding: chunked\r\n", 204).head().keep_alive);
  EXPECT_TRUE(with_fields("Content-Length: 0\r\n", 204).head().keep_alive);
}

TEST(response_fields, control_bytes_and_odd_line_ends_are_refused) {
  for (int c = 0; c < 256; ++c) {
    const bool control = (c < 0x20 && c != '\t') || c == 0x7f;
    EXPECT_EQ(with_fields("X: a" + std::string(1, static_cast<char>(c)) + "b\r\n").complete(), !control) << c;
  }
  for (std::string_view fields :
       {"X: a\n", "X: a\r\n b\r\n", "X : a\r\n", ": a\r\n", "X\r\n", " X: a\r\n", "X: a\r\r\n"}) {
    EXPECT_TRUE(with_fields(fields).rejected()) << fields;
  }
}

TEST(response_fields, underscores_pass_and_connection_marks_what_it_names) {
  const parsed p = with_fields(
      "Content_Length: 5\r\nConnection: X-Hop, Content-Length\r\nX-Hop: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n");
  ASSERT_TRUE(p.complete());
  EXPECT_TRUE(p.head().find("x-hop")->hop_by_hop);
  EXPECT_FALSE(p.head().find("set-cookie")->hop_by_hop);
  EXPECT_EQ(p.head().fields.size(), 5u);
}

TEST(response_limits, an_endless_head_and_too_many_fields_are_refused) {
  response_parser parser({100, 2, 20});
  EXPECT_EQ(parser.parse("HTTP/1.1 200 " + std::string(87, 'x'), "GET"), parse_result::rejected);
  parser.reset();
  EXPECT_EQ(parser.parse("HTTP/1.1 200 " + std::string(86, 'x'), "GET"), parse_result::need_more);
  parser.reset();
  EXPECT_EQ(parser.parse("HTTP/1.1 200 x\r\nA: 1\r\nB: 2\r\nC: 3\r\n", "GET"), parse_result::rejected);
  EXPECT_EQ(parser.why().status, 502u);
}

TEST(response_parsing, goes_on_with_the_final_answer_after_interim_ones) {
  const std::string raw =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
      "2\r\n\r\nok";
  response_parser parser;
  std::string_view left = raw;
  for (unsigned status : {100u, 103u, 200u}) {
    parser.reset();
    ASSERT_EQ(parser.parse(left, "POST"), parse_result::complete);
    EXPECT_EQ(parser.head().status, status);
    left.remove_prefix(parser.head_size());
  }
  EXPECT_EQ(left, "ok");
}

}  // namespace
}  // namespace idem::http::testing
