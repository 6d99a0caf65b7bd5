#include <gtest/gtest.h>

#include "idem/http/parser.hpp"
#include "idem/http/writer.hpp"

namespace idem::http {
namespace {

std::string downstream(std::string raw, response_edits edits = {}, std::string_view method = "GET") {
  response_parser parser;
  EXPECT_EQ(parser.parse(raw, method), parse_result::complete) << parser.why().reason;
  if (edits.body == framing{}) edits.body = parser.head().body;
  std::string out;
  EXPECT_TRUE(append_response_head(out, parser.head(), edits));
  return out;
}

TEST(response_writing, status_reason_order_and_repeated_fields_stay) {
  const std::string raw =
      "HTTP/1.1 299 Odd  reason\r\nset-cookie: a=1\r\nServer: x\r\nSet-Cookie: b=2\r\nDate: never\r\nContent-Length: "
      "3\r\nX: \xff\r\n\r\n";
  EXPECT_EQ(downstream(raw), raw);
  EXPECT_EQ(downstream("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"), "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n");
}

TEST(response_writing, the_version_is_always_1_1) {
  EXPECT_EQ(downstream("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n"), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
}

TEST(response_writing, hop_by_hop_fields_and_named_ones_stay_behind) {
  EXPECT_EQ(downstream("HTTP/1.1 200 OK\r\nConnection: x-a\r\nX-A: 1\r\nKeep-Alive: x\r\nUpgrade: h2c\r\nTrailer: X\r\n"
                       "Content-Length: 1\r\nX: 2\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX: 2\r\n\r\n");
}

TEST(response_writing, interim_answers_and_204_carry_no_framing_whatever_came) {
  for (std::string_view line : {"HTTP/1.1 103 Early Hints\r\n", "HTTP/1.1 204 No Content\r\n"}) {
    for (std::string_view field :
         {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 0\r\n"}) {
      response_edits edits;
      edits.body = {framing_kind::length, 5};
      EXPECT_EQ(downstream(std::string(line) + std::string(field) + "X: 1\r\n\r\n", edits),
                std::string(line) + "X: 1\r\n\r\n");
    }
  }
}

TEST(response_writing, head_and_304_keep_the_backends_own_length) {
  const std::string not_modified = "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: x\r\n\r\n";
  EXPECT_EQ(downstream(not_modified), not_modified);
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
  EXPECT_EQ(downstream(ok, {}, "HEAD"), ok);
  EXPECT_EQ(downstream("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: 1\r\n\r\n", {}, "HEAD"),
            "HTTP/1.1 200 OK\r\nX: 1\r\n\r\n");
  EXPECT_EQ(downstream("HTTP/1.1 200 OK\r\n\r\n", {}, "HEAD"), "HTTP/1.1 200 OK\r\n\r\n");
}

TEST(response_writing, framing_can_change_on_the_way) {
  response_edits edits;
  edits.body = {framing_kind::chunked, 0};
  EXPECT_EQ(downstream("HTTP/1.1 200 OK\r\nX: 1\r\n\r\n", edits),
            "HTTP/1.1 200 OK\r\nX: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
  edits.body = {framing_kind::until_close, 0};
  edits.close = true;
  EXPECT_EQ(downstream("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: 1\r\n\r\n", edits),
            "HTTP/1.1 200 OK\r\nX: 1\r\nConnection: close\r\n\r\n");
}

TEST(response_writing, connection_is_said_once) {
  const std::string raw = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n";
  response_edits edits;
  EXPECT_EQ(downstream(raw, edits).find("Connection"), std::string::npos);
  edits.keep_alive_10 = true;
  EXPECT_NE(downstream(raw, edits).find("\r\nConnection: keep-alive\r\n\r\n"), std::string::npos);
  edits.close = true;
  EXPECT_NE(downstream(raw, edits).find("\r\nConnection: close\r\n\r\n"), std::string::npos);
  EXPECT_EQ(downstream(raw, edits).find("keep-alive"), std::string::npos);
}

TEST(response_writing, a_101_forwards_its_upgrade) {
  response_edits edits;
  edits.keep_upgrade = true;
  EXPECT_EQ(
      downstream("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade, x\r\nX: 1\r\nUpgrade: websocket\r\n\r\n",
                 edits),
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
}

TEST(response_writing, trailer_is_announced_only_with_chunks) {
  response_edits edits;
  edits.keep_trailer = true;
  EXPECT_NE(downstream("HTTP/1.1 200 OK\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n", edits).find("Trailer: X"),
            std::string::npos);
  EXPECT_EQ(downstream("HTTP/1.1 200 OK\r\nTrailer: X\r\nContent-Length: 1\r\n\r\n", edits).find("Trailer"),
            std::string::npos);
}

TEST(response_writing, the_backends_own_idempotency_status_is_removed_on_demand) {
  const std::string raw = "HTTP/1.1 200 OK\r\nidempotency-status: x\r\nContent-Length: 1\r\n\r\n";
  EXPECT_EQ(downstream(raw), raw);
  response_edits edits;
  edits.drop_idempotency_status = true;
  edits.via = true;
  EXPECT_EQ(downstream(raw, edits), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nVia: 1.1 idempotency-proxy\r\n\r\n");
}

TEST(response_writing, a_part_that_would_end_a_line_leaves_the_output_as_it_was) {
  response_head good;
  good.status = 200;
  good.reason = "OK";
  good.fields = {{"X", "1", field_id::other, false}};
  const auto refused = [&good](auto&& spoil) {
    response_head head = good;
    spoil(head);
    response_edits edits;
    edits.body = {framing_kind::length, 1};
    std::string out = "before";
    const bool written = append_response_head(out, head, edits);
    EXPECT_EQ(written, out != "before");
    return !written;
  };
  EXPECT_FALSE(refused([](response_head&) {}));
  EXPECT_TRUE(refused([](response_head& h) { h.reason = "OK\r\nX: 1"; }));
  EXPECT_TRUE(refused([](response_head& h) { h.status = 99; }));
  EXPECT_TRUE(refused([](response_head& h) { h.status = 600; }));
  EXPECT_TRUE(refused([](response_head& h) { h.fields[0].value = "1\n"; }));
  EXPECT_TRUE(refused([](response_head& h) { h.fields[0].name = "X:"; }));
}

TEST(response_writing, single_parts_are_checked_too) {
  std::string out;
  EXPECT_TRUE(append_status_line(out, 404, ""));
  EXPECT_TRUE(append_field(out, "A", "b\tc"));
  append_framing(out, {framing_kind::length, 18446744073709551615u});
  append_framing(out, {framing_kind::none, 0});
  append_framing(out, {framing_kind::until_close, 0});
  append_end(out);
  EXPECT_EQ(out, "HTTP/1.1 404 \r\nA: b\tc\r\nContent-Length: 18446744073709551615\r\n\r\n");
  EXPECT_FALSE(append_status_line(out, 404, "a\nb"));
  EXPECT_FALSE(append_field(out, "A B", "c"));
  EXPECT_TRUE(valid_field("A", ""));
}

}  // namespace
}  // namespace idem::http
