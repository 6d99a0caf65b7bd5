#include "idem/http/body.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace idem::http {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

/// What comes out of a body that is fed in the given pieces, with `!` and the reason when it is refused.
std::string decoded(framing plan, const std::vector<std::string>& pieces) {
  body_decoder decoder(plan);
  std::string text;
  std::string rest;
  for (const std::string& piece : pieces) {
    std::string_view left = piece;
    for (;;) {
      const body_step step = decoder.feed(left);
      if (step.type == body_step::kind::error) return text + "!" + std::string(step.error);
      text += step.data;
      left.remove_prefix(step.consumed);
      if (step.type == body_step::kind::need_more || step.type == body_step::kind::done) break;
    }
    rest += left;
  }
  if (!decoder.trailers().empty()) text += "[" + decoder.trailers() + "]";
  if (!decoder.done()) text += "...";
  return rest.empty() ? text : text + "+" + rest;
}

std::vector<std::string> bytes_of(std::string_view raw) {
  std::vector<std::string> bytes;
  for (char c : raw) bytes.emplace_back(1, c);
  return bytes;
}

/// Every cut in two, every cut in three for short input, and single bytes: all must agree.
std::string every_way(framing plan, std::string_view raw) {
  std::set<std::string> results = {decoded(plan, {std::string(raw)}), decoded(plan, bytes_of(raw))};
  for (std::size_t i = 0; i <= raw.size(); ++i) {
    results.insert(decoded(plan, {std::string(raw.substr(0, i)), std::string(raw.substr(i))}));
    for (std::size_t j = i; raw.size() < 80 && j <= raw.size(); ++j) {
      results.insert(decoded(
          plan, {std::string(raw.substr(0, i)), std::string(raw.substr(i, j - i)), std::string(raw.substr(j))}));
    }
  }
  EXPECT_EQ(results.size(), 1u) << raw << "\n" << *results.begin() << "\n" << *results.rbegin();
  return *results.begin();
}

std::string chunked(std::string_view raw) { return every_way({framing_kind::chunked, 0}, raw); }
bool refused(std::string_view raw) { return chunked(raw).find('!') != std::string::npos; }

TEST(chunked_body, chunks_become_data_and_what_follows_is_left) {
  EXPECT_EQ(chunked("5\r\nHELLO\r\n0\r\n\r\n"), "HELLO");
  EXPECT_EQ(chunked("5\r\nHELLO\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\nGET /"), "HELLO world+GET /");
  EXPECT_EQ(chunked("0\r\n\r\n"), "");
  EXPECT_EQ(chunked("a\r\n0123456789\r\n00\r\n\r\n"), "0123456789");
  EXPECT_EQ(chunked("0000000000000005\r\nHELLO\r\n0\r\n\r\n"), "HELLO");
}

TEST(chunked_body, data_may_hold_anything) {
  EXPECT_EQ(chunked("c\r\n0\r\n\r\n5\r\n\0\xff\r\n\r\n0\r\n\r\n"sv), "0\r\n\r\n5\r\n\0\xff\r\n"s);
}

TEST(chunked_body, an_unfinished_body_is_not_done) {
  const std::string whole = "5\r\nHELLO\r\n0\r\nX: 1\r\n\r\n";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    body_decoder decoder({framing_kind::chunked, 0});
    std::string_view left = std::string_view(whole).substr(0, n);
    body_step step;
    do {
      step = decoder.feed(left);
      left.remove_prefix(step.consumed);
    } while (step.type == body_step::kind::data);
    EXPECT_EQ(step.type, body_step::kind::need_more);
    EXPECT_TRUE(left.empty());
    EXPECT_FALSE(decoder.finish()) << n;
  }
}

TEST(chunked_body, a_size_is_one_to_sixteen_hexadecimal_digits) {
  for (std::string_view size : {"", "0x5", "+5", "-5", "1_0", " 5", "5 ", "5\t", "g", "5g", "00000000000000005",
                                "10000000000000000", "8000000000000000", "ffffffffffffffff", "\"5\"", "5,"}) {
    EXPECT_TRUE(refused(std::string(size) + "\r\nHELLO\r\n0\r\n\r\n")) << size;
  }
  body_decoder decoder({framing_kind::chunked, 0});
  EXPECT_EQ(decoder.feed("7fffffffffffffff\r\nx").data, "x");
}

TEST(chunked_body, a_bare_line_end_after_a_size_is_refused) {
  EXPECT_TRUE(refused("5\nHELLO\r\n0\r\n\r\n"));
  EXPECT_TRUE(refused("5\rHELLO\r\n0\r\n\r\n"));
  EXPECT_TRUE(refused("5\r\r\nHELLO\r\n0\r\n\r\n"));
}

TEST(chunked_body, data_is_followed_by_crlf_exactly) {
  for (std::string_view end : {"", "\n", "\r", "\n\r", "XX\r\n", " \r\n", "\r\n\r\n"}) {
    EXPECT_TRUE(refused("5\r\nHELLO" + std::string(end) + "0\r\n\r\n")) << end;
  }
}

TEST(chunked_body, extensions_are_read_over) {
  EXPECT_EQ(chunked("5;a\r\nHELLO\r\n0;b=c\r\n\r\n"), "HELLO");
  EXPECT_EQ(chunked("5;a=\"x;\\\"y\\\\\";b\r\nHELLO\r\n0;;\r\n\r\n"), "HELLO");
  EXPECT_EQ(chunked("5; a = b\r\nHELLO\r\n0\r\n\r\n"), "HELLO");
}

TEST(chunked_body, a_line_end_in_an_extension_is_refused_in_quotes_too) {
  for (std::string_view extension : {";a\n", ";a\r", ";\"a\r\n", ";\"a\n", ";\"\\\r\n", ";\x01", ";a\x7f"}) {
    EXPECT_TRUE(refused("5" + std::string(extension) + "HELLO\r\n0\r\n\r\n")) << extension;
  }
  EXPECT_TRUE(refused("5;\0\r\nHELLO"sv));
}

TEST(chunked_body, an_open_quote_waits_and_ends_at_four_kilobytes) {
  body_decoder decoder({framing_kind::chunked, 0});
  EXPECT_EQ(decoder.feed("5;a=\"").type, body_step::kind::need_more);
  EXPECT_EQ(decoder.feed(std::string(4000, 'x')).type, body_step::kind::need_more);
  EXPECT_EQ(decoder.feed(std::string(100, 'x')).type, body_step::kind::error);
}

TEST(chunked_body, extensions_are_counted_over_all_chunks) {
  body_decoder decoder({framing_kind::chunked, 0});
  const std::string chunk = "1;" + std::string(99, 'e') + "\r\nx\r\n";
  std::size_t chunks = 0;
  for (body_step step; chunks < 100; ++chunks) {
    std::string_view left = chunk;
    do {
      step = decoder.feed(left);
      left.remove_prefix(step.consumed);
    } while (step.type == body_step::kind::data);
    if (step.type == body_step::kind::error) break;
  }
  EXPECT_EQ(chunks, 40u);
}

TEST(chunked_body, what_was_refused_stays_refused) {
  body_decoder decoder({framing_kind::chunked, 0});
  ASSERT_EQ(decoder.feed("x").type, body_step::kind::error);
  EXPECT_EQ(decoder.feed("0\r\n\r\n").type, body_step::kind::error);
  EXPECT_EQ(decoder.feed("").error, decoder.feed("0").error);
  EXPECT_FALSE(decoder.finish());
}

TEST(chunk_trailers, are_kept_as_lines_beside_the_body) {
  EXPECT_EQ(chunked("1\r\nx\r\n0\r\nX-Sum: 1\r\nServer-Timing:a\r\n\r\nGET"), "x[X-Sum: 1\r\nServer-Timing:a\r\n]+GET");
}

TEST(chunk_trailers, malformed_ones_are_refused) {
  for (std::string_view line : {"X\r\n", ": a\r\n", "X : a\r\n", " X: a\r\n", "X: a\r\n b\r\n", "X: a\n", "X: a\rb\r\n",
                                "X: \x01\r\n", "X\n", "\n", "\r\r\n", "X: a\r\r\n", "G E T: a\r\n"}) {
    EXPECT_TRUE(refused("0\r\n" + std::string(line) + "\r\n")) << line;
  }
  EXPECT_TRUE(refused("0\r\nX: \0\r\n\r\n"sv));
}

TEST(chunk_trailers, what_would_change_the_message_is_left_out) {
  for (std::string_view name : {"Content-Length",
                                "Transfer-Encoding",
                                "Host",
                                "Connection",
                                "Upgrade",
                                "Trailer",
                                "TE",
                                "Keep-Alive",
                                "Proxy-Connection",
                                "Authorization",
                                "Proxy-Authorization",
                                "X-Api-Key",
                                "Cookie",
                                "Set-Cookie",
                                "Idempotency-Key",
                                "Idempotency-Status",
                                "Idempotency-Attempt",
                                "Idempotent-Replayed",
                                "Content-Type",
                                "Content-Encoding",
                                "Content-Range",
                                "Cache-Control",
                                "Expect",
                                "Range",
                                "If-Match",
                                "Location",
                                "Retry-After",
                                "Vary",
                                "X-Forwarded-For",
                                "Forwarded",
                                "Via",
                                "X-HTTP-Method-Override",
                                "Content_Length",
                                "idempotency_key",
                                "HOST"}) {
    EXPECT_EQ(chunked("0\r\n" + std::string(name) + ": 1\r\nX: 2\r\n\r\n"), "[X: 2\r\n]") << name;
  }
}

TEST(chunk_trailers, checks_and_statuses_of_the_content_are_kept) {
  for (std::string_view name :
       {"Content-Digest", "Content-MD5", "ETag", "Grpc-Status", "Server-Timing", "X-Amz-Checksum-Crc32"}) {
    const std::string line = std::string(name) + ": 1\r\n";
    EXPECT_EQ(chunked("0\r\n" + line + "\r\n"), "[" + line + "]");
  }
}

TEST(chunk_trailers, that_connection_names_are_left_out) {
  const framing plan{framing_kind::chunked, 0};
  std::string lines = "close, X-One,,\tX-two";
  field_list head;
  head.fields = {{"Connection", lines, field_id::connection, true},
                 {"X-Four", "X-Five", field_id::other, false},
                 {"connection", "x-three", field_id::connection, true}};
  body_decoder decoder;
  decoder.reset(plan, head);
  lines.assign(lines.size(), '?');
  decoder.feed("0\r\nx-one: 1\r\nX-Two: 2\r\nX-Three: 3\r\nX-Four: 4\r\nX-Five: 5\r\nX-On: 6\r\n\r\n");
  EXPECT_TRUE(decoder.done());
  EXPECT_EQ(decoder.trailers(), "X-Four: 4\r\nX-Five: 5\r\nX-On: 6\r\n");
  decoder.reset(plan);
  decoder.feed("0\r\nX-One: 1\r\n\r\n");
  EXPECT_EQ(decoder.trailers(), "X-One: 1\r\n") << "of another message";
}

TEST(chunk_trailers, are_bounded_in_number_and_size) {
  const auto lines = [](std::size_t n, std::size_t size) {
    std::string text = "0\r\n";
    for (std::size_t i = 0; i < n; ++i) text += "X: " + std::string(size - 5, 'a') + "\r\n";
    return text + "\r\n";
  };
  const framing plan{framing_kind::chunked, 0};
  EXPECT_EQ(decoded(plan, {lines(64, 10)}).find('!'), std::string::npos);
  EXPECT_NE(decoded(plan, {lines(65, 10)}).find('!'), std::string::npos);
  EXPECT_EQ(decoded(plan, {lines(1, 8190)}).find('!'), std::string::npos);
  EXPECT_NE(decoded(plan, {lines(1, 8191)}).find('!'), std::string::npos);
  EXPECT_EQ(decoded(plan, {lines(1, 9000)}), decoded(plan, bytes_of(lines(1, 9000))));
}

TEST(counted_body, ends_at_its_length) {
  EXPECT_EQ(every_way({framing_kind::length, 5}, "HELLOnext"), "HELLO+next");
  EXPECT_EQ(every_way({framing_kind::length, 5}, "HELL"), "HELL...");
}

TEST(counted_body, is_not_ended_by_the_connection) {
  body_decoder decoder({framing_kind::length, 5});
  decoder.feed("HELL");
  EXPECT_FALSE(decoder.finish());
  EXPECT_EQ(decoder.received(), 4u);
  decoder.feed("O");
  EXPECT_TRUE(decoder.finish());
}

TEST(empty_body, is_done_at_once) {
  for (framing plan : {framing{framing_kind::none, 0}, framing{framing_kind::length, 0}}) {
    body_decoder decoder(plan);
    const body_step step = decoder.feed("");
    EXPECT_EQ(step.type, body_step::kind::done);
    EXPECT_EQ(decoder.feed("next").consumed, 0u);
    EXPECT_TRUE(decoder.finish());
  }
  EXPECT_EQ(body_decoder().feed("x").type, body_step::kind::done);
}

TEST(body_until_close, is_whole_when_the_peer_closes) {
  body_decoder decoder({framing_kind::until_close, 0});
  EXPECT_EQ(decoder.feed("").type, body_step::kind::need_more);
  EXPECT_EQ(decoder.feed("abc").data, "abc");
  EXPECT_FALSE(decoder.done());
  EXPECT_TRUE(decoder.finish());
  EXPECT_TRUE(decoder.done());
  EXPECT_EQ(decoder.received(), 3u);
}

TEST(body_reuse, a_reset_decoder_remembers_nothing) {
  body_decoder decoder({framing_kind::chunked, 0});
  decoder.feed("5;\"a");
  decoder.reset({framing_kind::chunked, 0});
  EXPECT_EQ(decoder.feed("1\r\nx").data, "x");
  decoder.feed("\r\n0\r\nX: 1\r\n\r\n");
  EXPECT_TRUE(decoder.done());
  decoder.reset({framing_kind::length, 2});
  EXPECT_EQ(decoder.trailers(), "");
  EXPECT_EQ(decoder.received(), 0u);
  EXPECT_EQ(decoder.feed("abc").data, "ab");
}

TEST(chunk_writing, sizes_and_ends_are_read_back) {
  std::string out;
  append_chunk_size(out, 26);
  out += std::string(26, 'z');
  out += chunk_end;
  append_last_chunk(out, "X: 1\r\n");
  EXPECT_EQ(out.substr(0, 4), "1a\r\n");
  EXPECT_EQ(chunked(out), std::string(26, 'z') + "[X: 1\r\n]");
  std::string large;
  append_chunk_size(large, 0x7fffffffffffffff);
  EXPECT_EQ(large, "7fffffffffffffff\r\n");
}

}  // namespace
}  // namespace idem::http
