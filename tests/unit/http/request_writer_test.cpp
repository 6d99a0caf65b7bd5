#include <gtest/gtest.h>

#include "idem/http/parser.hpp"
#include "idem/http/writer.hpp"

namespace idem::http {
namespace {

using forwarded = request_edits::forwarded;

/// The request as it goes upstream; the framing is that of the message unless a test sets its own.
std::string upstream(std::string raw, request_edits edits = {}, bool own_framing = true) {
  request_parser parser;
  EXPECT_EQ(parser.parse(raw), parse_result::complete) << parser.why().reason;
  if (own_framing) edits.body = parser.head().body;
  std::string out;
  EXPECT_TRUE(append_request_head(out, parser.head(), edits));
  return out;
}
std::string upstream_of(std::string_view fields, request_edits edits = {}) {
  const std::string start = "GET / HTTP/1.1\r\n";
  const std::string out = upstream(start + std::string(fields) + "\r\n", edits);
  EXPECT_TRUE(out.starts_with(start) && out.ends_with("\r\n\r\n"));
  return out.substr(start.size(), out.size() - start.size() - 2);
}

TEST(request_writing, order_and_case_of_fields_and_the_bytes_of_the_target_stay) {
  const std::string raw =
      "PATCH /a%2F/../?b=%20&& HTTP/1.1\r\nx-B: 1\r\nHOST: h\r\nX-b: 2\r\nAccept:\r\ncookie: a=b; c\r\nX-B: "
      "caf\xc3\xa9\r\n\r\n";
  std::string expected = raw;
  expected.replace(expected.find("Accept:"), 7, "Accept: ");
  EXPECT_EQ(upstream(raw), expected);
}

TEST(request_writing, hop_by_hop_fields_and_named_ones_stay_behind) {
  EXPECT_EQ(
      upstream_of(
          "Host: a\r\nConnection: x-a, close\r\nX-A: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nTE: trailers\r\n"
          "Trailer: X\r\nUpgrade: x\r\nX-B: 2\r\nProxy-Authorization: y\r\n"),
      "Host: a\r\nX-B: 2\r\nProxy-Authorization: y\r\n");
}

TEST(request_writing, framing_is_written_anew_where_it_stood) {
  EXPECT_EQ(upstream_of("Host: a\r\ncontent-length:  5 \r\nX: 1\r\n"), "Host: a\r\nContent-Length: 5\r\nX: 1\r\n");
  EXPECT_EQ(upstream_of("Host: a\r\nTransfer-Encoding: CHUNKED\r\nX: 1\r\n"),
            "Host: a\r\nTransfer-Encoding: chunked\r\nX: 1\r\n");
}

TEST(request_writing, content_length_zero_is_kept_and_none_is_not_invented) {
  EXPECT_EQ(upstream_of("Host: a\r\nContent-Length: 0\r\n"), "Host: a\r\nContent-Length: 0\r\n");
  EXPECT_EQ(upstream("POST / HTTP/1.1\r\nHost: a\r\n\r\n"), "POST / HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST(request_writing, a_buffered_chunked_body_can_leave_with_a_length) {
  request_edits edits;
  edits.body = {framing_kind::length, 7};
  edits.keep_trailer = true;
  EXPECT_EQ(upstream("POST / HTTP/1.1\r\nHost: a\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n", edits, false),
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n");
}

TEST(request_writing, trailer_is_announced_only_if_trailers_are_relayed_in_chunks) {
  request_edits keep;
  keep.keep_trailer = true;
  EXPECT_EQ(upstream_of("Host: a\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n", keep),
            "Host: a\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n");
  EXPECT_EQ(upstream_of("Host: a\r\nTrailer: X\r\n", keep), "Host: a\r\n");
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(upstream_of("Host: a\r\nConnection: x, Y\r\nTrailer: X\r\nTrailer: a,y ,, B\r\n" + chunked, keep),
            "Host: a\r\nTrailer: a, B\r\n" + chunked)
      << "but for those that Connection names";
  EXPECT_EQ(upstream_of("Host: a\r\nConnection: close\r\nTrailer: a,y ,, B\r\n" + chunked, keep),
            "Host: a\r\nTrailer: a,y ,, B\r\n" + chunked);
}

TEST(request_writing, host_is_regenerated_from_an_absolute_form) {
  EXPECT_EQ(upstream("GET http://b:8080/x?y HTTP/1.1\r\nA: 1\r\nhost: a\r\n\r\n"),
            "GET /x?y HTTP/1.1\r\nA: 1\r\nhost: b:8080\r\n\r\n");
  EXPECT_EQ(upstream("GET http://b HTTP/1.0\r\n\r\n"), "GET / HTTP/1.1\r\nHost: b\r\n\r\n");
  EXPECT_EQ(upstream("OPTIONS http://b HTTP/1.1\r\nHost: b\r\n\r\n"), "OPTIONS * HTTP/1.1\r\nHost: b\r\n\r\n");
}

TEST(request_writing, a_1_0_request_without_host_gets_an_empty_one) {
  EXPECT_EQ(upstream("GET / HTTP/1.0\r\nX: 1\r\n\r\n"), "GET / HTTP/1.1\r\nHost: \r\nX: 1\r\n\r\n");
}

TEST(request_writing, expect_is_forwarded_only_on_demand) {
  request_edits keep;
  keep.keep_expect = true;
  EXPECT_EQ(upstream_of("Host: a\r\nExpect: 100-continue\r\n"), "Host: a\r\n");
  EXPECT_EQ(upstream_of("Host: a\r\nExpect: 100-continue\r\n", keep), "Host: a\r\nExpect: 100-continue\r\n");
}

TEST(request_writing, an_upgrade_is_forwarded_with_a_connection_line_of_its_own) {
  request_edits keep;
  keep.keep_upgrade = true;
  EXPECT_EQ(upstream_of("Host: a\r\nConnection: keep-alive, Upgrade, x\r\nX: 1\r\nUpgrade: websocket\r\n", keep),
            "Host: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n");
}

TEST(request_writing, the_attempt_replaces_a_clients_own) {
  request_edits edits;
  EXPECT_EQ(upstream_of("Host: a\r\nIdempotency-Attempt: 9\r\n", edits), "Host: a\r\nIdempotency-Attempt: 9\r\n");
  edits.attempt = "2";
  EXPECT_EQ(upstream_of("Host: a\r\nidempotency-attempt: 9\r\n", edits), "Host: a\r\nIdempotency-Attempt: 2\r\n");
}

TEST(request_writing, via_names_the_version_that_was_received) {
  request_edits edits;
  edits.via = true;
  EXPECT_EQ(upstream_of("Host: a\r\nVia: 1.1 x\r\n", edits), "Host: a\r\nVia: 1.1 x\r\nVia: 1.1 idempotency-proxy\r\n");
  EXPECT_NE(upstream("GET / HTTP/1.0\r\n\r\n", edits).find("Via: 1.0 idempotency-proxy\r\n"), std::string::npos);
}

constexpr std::string_view with_forwarded =
    "Host: a\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-Proto: ftp\r\nX: 1\r\nX-Forwarded-For: "
    "2.2.2.2\r\nX-Forwarded-Host: b\r\n";

request_edits forwarding(forwarded mode, std::string_view address = "9.9.9.9") {
  request_edits edits;
  edits.forwarded_mode = mode;
  edits.forwarded_for = address;
  edits.forwarded_proto = "https";
  return edits;
}

TEST(forwarded_fields, are_preserved_by_default_and_without_an_address) {
  EXPECT_EQ(upstream_of(with_forwarded, forwarding(forwarded::preserve)), with_forwarded);
  EXPECT_EQ(upstream_of(with_forwarded, forwarding(forwarded::append, "")), with_forwarded);
  EXPECT_EQ(upstream_of(with_forwarded, forwarding(forwarded::replace, "")), with_forwarded);
}

TEST(forwarded_fields, append_joins_the_list_and_adds_only_what_is_absent) {
  EXPECT_EQ(upstream_of(with_forwarded, forwarding(forwarded::append)),
            "Host: a\r\nX-Forwarded-For: 1.1.1.1, 2.2.2.2, 9.9.9.9\r\nX-Forwarded-Proto: ftp\r\nX: "
            "1\r\nX-Forwarded-Host: b\r\n");
  EXPECT_EQ(upstream_of("Host: a\r\n", forwarding(forwarded::append)),
            "Host: a\r\nX-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: a\r\n");
  EXPECT_EQ(upstream_of("Host: a\r\nX-Forwarded-For:\r\n", forwarding(forwarded::append)),
            "Host: a\r\nX-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: a\r\n");
}

TEST(forwarded_fields, replace_leaves_only_our_own) {
  EXPECT_EQ(upstream_of(with_forwarded, forwarding(forwarded::replace)),
            "Host: a\r\nX: 1\r\nX-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: a\r\n");
}

TEST(forwarded_fields, remove_leaves_none) {
  EXPECT_EQ(upstream_of(with_forwarded, forwarding(forwarded::remove)), "Host: a\r\nX: 1\r\n");
  EXPECT_EQ(upstream_of(with_forwarded, forwarding(forwarded::remove, "")), "Host: a\r\nX: 1\r\n");
}

TEST(request_writing, a_part_that_would_end_a_line_leaves_the_output_as_it_was) {
  request_head good;
  good.method = "GET";
  good.target = good.path = "/";
  good.authority = "a";
  good.fields = {{"Host", "a", field_id::host, false}, {"X", "1", field_id::other, false}};
  std::string out = "before";
  ASSERT_TRUE(append_request_head(out, good, {}));
  EXPECT_EQ(out, "beforeGET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n");

  const auto expect_refused = [&good](auto&& spoil, request_edits edits = {}) {
    request_head head = good;
    spoil(head);
    std::string text = "before";
    EXPECT_FALSE(append_request_head(text, head, edits));
    EXPECT_EQ(text, "before");
  };
  expect_refused([](request_head& h) { h.fields[1].value = "a\r\nY: 2"; });
  expect_refused([](request_head& h) { h.fields[1].value = "a\n"; });
  expect_refused([](request_head& h) { h.fields[1].value = std::string_view("a\0b", 3); });
  expect_refused([](request_head& h) { h.fields[1].name = "X Y"; });
  expect_refused([](request_head& h) { h.fields[1].name = ""; });
  expect_refused([](request_head& h) { h.fields[0].value = "a\r"; });
  expect_refused([](request_head& h) { h.method = "GE T"; });
  expect_refused([](request_head& h) { h.path = "/ HTTP/1.1\r\nX: 1"; });
  expect_refused([](request_head& h) { h.path = "/a b"; });
  expect_refused([](request_head& h) { h.path = ""; });
  expect_refused([](request_head& h) { h.has_query = true, h.query = "a b"; });
  expect_refused([](request_head& h) { h.has_query = true, h.query = "a\r\nX: 1"; });
  expect_refused([](request_head&) {}, forwarding(forwarded::append, "1\r\n2"));
  request_edits attempt;
  attempt.attempt = "1\n";
  expect_refused([](request_head&) {}, attempt);
}

}  // namespace
}  // namespace idem::http
