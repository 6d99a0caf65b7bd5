// What the gate lets through and what it refuses, beyond the vectors: targets, Host, Connection, limits.
#include <gtest/gtest.h>

#include "unit/http/conversation.hpp"

namespace idem::http::testing {
namespace {

using namespace std::string_view_literals;

/// The parser keeps views, so the bytes stay here.
struct parsed {
  std::string bytes;
  request_parser parser;
  parse_result result;

  explicit parsed(std::string raw, head_limits limits = {}) : bytes(std::move(raw)), parser(limits) {
    result = parser.parse(bytes);
  }
  bool complete() const { return result == parse_result::complete; }
  /// 0 for what is not refused
  unsigned status() const { return result == parse_result::rejected ? parser.why().status : 0; }
  const request_head& head() const { return parser.head(); }
};

parsed with_line(std::string_view line, std::string_view fields = "Host: a\r\n") {
  return parsed(std::string(line) + "\r\n" + std::string(fields) + "\r\n");
}
parsed with_fields(std::string_view fields) { return with_line("GET / HTTP/1.1", fields); }
parsed with_host(std::string_view host) { return with_fields("Host: " + std::string(host) + "\r\n"); }

TEST(request_target, a_path_and_a_query_come_apart_as_they_are) {
  const parsed p = with_line("GET /a/%2e%2E//b;c?x=1?&y=%00 HTTP/1.1");
  ASSERT_TRUE(p.complete());
  EXPECT_EQ(p.head().path, "/a/%2e%2E//b;c");
  EXPECT_TRUE(p.head().has_query);
  EXPECT_EQ(p.head().query, "x=1?&y=%00");
  EXPECT_EQ(p.head().authority, "a");
  EXPECT_FALSE(p.head().absolute_form);
}

TEST(request_target, an_empty_query_is_not_no_query) {
  EXPECT_TRUE(with_line("GET /? HTTP/1.1").head().has_query);
  EXPECT_FALSE(with_line("GET / HTTP/1.1").head().has_query);
}

TEST(request_target, an_absolute_form_wins_over_host) {
  const parsed p = with_line("GET HTTP://b.example:80/x?y HTTP/1.1");
  ASSERT_TRUE(p.complete());
  EXPECT_TRUE(p.head().absolute_form);
  EXPECT_EQ(p.head().authority, "b.example:80");
  EXPECT_EQ(p.head().path, "/x");
  EXPECT_EQ(p.head().query, "y");
}

TEST(request_target, an_absolute_form_without_a_path_asks_for_the_root) {
  const parsed p = with_line("GET https://b HTTP/1.1");
  ASSERT_TRUE(p.complete());
  EXPECT_EQ(p.head().path, "/");
  EXPECT_FALSE(p.head().has_query);
  for (std::string_view target : {"http://b?x=/y?z", "HTTP://b:80?x=/y?z"}) {
    const parsed q = with_line("GET " + std::string(target) + " HTTP/1.1");
    ASSERT_TRUE(q.complete()) << target;
    EXPECT_EQ(q.head().path, "/");
    EXPECT_TRUE(q.head().has_query);
    EXPECT_EQ(q.head().query, "x=/y?z");
  }
}

TEST(request_target, options_of_a_whole_server_is_an_asterisk_in_either_form) {
  EXPECT_EQ(with_line("OPTIONS * HTTP/1.1").head().path, "*");
  EXPECT_EQ(with_line("OPTIONS http://b HTTP/1.1").head().path, "*");
  EXPECT_EQ(with_line("OPTIONS http://b/ HTTP/1.1").head().path, "/");
  EXPECT_EQ(with_line("OPTIONS http://b?x HTTP/1.1").head().path, "/");
}

TEST(request_target, what_is_neither_a_path_nor_a_url_is_refused) {
  for (std::string_view target :
       {"*", "a", "a:443", "?x", "ftp://a/", "http:/a", "http:a", "http://", "http:///x", "http://?x", "http://u@h/",
        "http://u:p@h/", "http://h:x/", "http://h#f", "/a#", "/#", "\\", "http://[::1/", "//h@x\x80"}) {
    EXPECT_EQ(with_line("GET " + std::string(target) + " HTTP/1.1").status(), 400u) << target;
  }
}

TEST(request_target, control_bytes_and_bytes_outside_of_ascii_are_refused) {
  for (int c = 0; c < 256; ++c) {
    const bool refused = c <= 0x20 || c == '#' || c >= 0x7f;
    const std::string line = std::string("GET /a") + static_cast<char>(c) + "b HTTP/1.1";
    EXPECT_EQ(with_line(line).complete(), !refused) << c;
  }
}

TEST(request_line, a_well_formed_version_of_another_kind_is_505_and_a_malformed_one_400) {
  for (std::string_view version : {"HTTP/1.2", "HTTP/1.9", "HTTP/2.0", "HTTP/0.9", "HTTP/3.1"}) {
    EXPECT_EQ(with_line("GET / " + std::string(version)).status(), 505u) << version;
  }
  for (std::string_view version :
       {"HTTP/1", "HTTP/11", "HTTP/1.1.1", "HTTP/1.", "HTTP/a.1", "HTTPS/1.1", "http/1.1", "", "HTTP/ 1.1"}) {
    EXPECT_EQ(with_line("GET / " + std::string(version)).status(), 400u) << version;
  }
  EXPECT_EQ(with_line("GET /").status(), 400u);
  EXPECT_EQ(with_line("GET").status(), 400u);
}

TEST(request_line, methods_pass_as_tokens_and_are_case_sensitive) {
  EXPECT_EQ(with_line("PROPFIND / HTTP/1.1").head().method, "PROPFIND");
  EXPECT_EQ(with_line("get / HTTP/1.1").head().method, "get");
  EXPECT_EQ(with_line("options * HTTP/1.1").status(), 400u);
  EXPECT_EQ(with_line("CONNECT a:443 HTTP/1.1").status(), 405u);
  EXPECT_EQ(with_line(std::string(65, 'M') + " / HTTP/1.1").status(), 400u);
  EXPECT_TRUE(with_line(std::string(64, 'M') + " / HTTP/1.1").complete());
}

TEST(request_line, another_protocol_is_refused_by_its_first_bytes) {
  for (std::string_view bytes : {"\x16\x03\x01"sv, "\x00"sv, "\n"sv, " "sv, "GET\t"sv, "\xff"sv, "{\""sv}) {
    EXPECT_EQ(parsed(std::string(bytes)).status(), 400u);
  }
}

TEST(request_start, four_empty_lines_are_skipped_and_a_fifth_is_refused) {
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  std::string skipped;
  for (int n = 0; n <= 5; ++n, skipped += "\r\n") {
    const parsed p(skipped + request);
    EXPECT_EQ(p.complete(), n <= 4) << n;
    if (p.complete()) EXPECT_EQ(p.parser.head_size(), skipped.size() + request.size());
  }
  EXPECT_EQ(parsed("\n" + request).status(), 400u);
  EXPECT_EQ(parsed("\r" + request).status(), 400u);
}

TEST(request_start, tells_head_by_its_first_word_whatever_follows) {
  const request_parser parser;
  for (std::string_view bytes : {"HEAD ", "\r\nHEAD / HTTP/1.1\r\n", "HEAD x", "HEAD  / HTTP/9.9\r\n\x01"})
    EXPECT_TRUE(parser.is_head(bytes)) << bytes;
  for (std::string_view bytes : {"", "HEAD", "head / HTTP/1.1\r\n", "HEADER /", "GET /HEAD ", "\nHEAD / HTTP/1.1"})
    EXPECT_FALSE(parser.is_head(bytes)) << bytes;
}

TEST(request_start, empty_lines_do_not_start_a_message) {
  const request_parser parser;
  for (std::string_view bytes : {"", "\r", "\r\n", "\r\n\r", "\r\n\r\n\r\n\r\n"}) EXPECT_FALSE(parser.started(bytes));
  for (std::string_view bytes : {"G", "\r\nG", "\rG", "\n", "\r\n\r\n\r\n\r\n\r"}) EXPECT_TRUE(parser.started(bytes));
}

TEST(request_host, hosts_with_ports_and_address_literals_pass) {
  for (std::string_view host : {"a", "a.b-c_d.example", "a:80", "a:", "127.0.0.1:65535", "[::1]", "[::1]:8080",
                                "[2001:db8::ffff:1.2.3.4]", "xn--bcher-kva.example", "a%20b"}) {
    const parsed p = with_host(host);
    EXPECT_TRUE(p.complete()) << host;
    EXPECT_EQ(p.head().authority, host);
  }
}

TEST(request_host, what_is_no_host_is_refused) {
  for (std::string_view host : {"",     "a b",  "a,b", "a, b", "a/b",   "a@b",     "a:b",          "a:65536", "a:-1",
                                ":80",  "[::1", "::1", "[]",   "[1]",   "[::1]80", "[::1%25eth0]", "[v1.a]",  "a%2",
                                "a%zz", "a?b",  "a#b", "a\\b", "\"a\"", "a:80:80", "h\xc3\xa9",    "[::1]:x"}) {
    EXPECT_EQ(with_host(host).status(), 400u) << host;
  }
}

TEST(request_host, one_is_required_in_1_1_only_and_never_are_there_two) {
  EXPECT_EQ(with_fields("").status(), 400u);
  EXPECT_EQ(with_fields("Host: a\r\nHost: a\r\n").status(), 400u);
  EXPECT_EQ(with_fields("Host: a\r\nhOST: b\r\n").status(), 400u);
  EXPECT_TRUE(with_line("GET / HTTP/1.0", "").complete());
  EXPECT_EQ(with_line("GET / HTTP/1.0", "Host: a\r\nHost: a\r\n").status(), 400u);
  EXPECT_EQ(with_line("GET / HTTP/1.0", "Host: a/b\r\n").status(), 400u);
  EXPECT_EQ(with_line("GET http://b/ HTTP/1.1", "").status(), 400u);
  EXPECT_EQ(with_line("GET http://b/ HTTP/1.1", "Host: x y\r\n").status(), 400u);
}

TEST(request_host, a_parser_that_is_used_again_remembers_nothing_of_the_last_message) {
  request_parser parser;
  const std::string first =
      "POST http://b/x?q HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: upgrade\r\nUpgrade: "
      "x\r\nContent-Length: 3\r\n\r\n";
  const std::string second = "GET / HTTP/1.0\r\n\r\n";
  ASSERT_EQ(parser.parse(first), parse_result::complete);
  EXPECT_TRUE(parser.head().expect_continue);
  EXPECT_TRUE(parser.head().upgrade);
  parser.reset();
  ASSERT_EQ(parser.parse(second), parse_result::complete);
  EXPECT_EQ(describe(parser.head()), "GET / none close");
  EXPECT_EQ(parser.head().authority, "");
  EXPECT_FALSE(parser.head().absolute_form);
  EXPECT_FALSE(parser.head().has_query);
  EXPECT_FALSE(parser.head().expect_continue);
  EXPECT_TRUE(parser.head().fields.empty());
}

TEST(request_host, a_parser_that_refuses_the_next_message_shows_nothing_of_the_last_one) {
  request_parser parser;
  ASSERT_EQ(parser.parse("POST /secret HTTP/1.1\r\nHost: a\r\n\r\n"), parse_result::complete);
  parser.reset();
  ASSERT_EQ(parser.parse("G@T / HTTP/1.1\r\nHost: a\r\n\r\n"), parse_result::rejected);
  EXPECT_EQ(parser.head().method, "");
  EXPECT_EQ(parser.head().path, "");
}

TEST(request_fields, names_and_values_keep_their_bytes) {
  const parsed p = with_fields("hOsT:a\r\nX-Odd!#$%&'*+.^_`|~: \t a  b\t\xff \t\r\nX-Empty:\r\n");
  ASSERT_TRUE(p.complete());
  EXPECT_EQ(p.head().fields[0].name, "hOsT");
  EXPECT_EQ(p.head().fields[1].name, "X-Odd!#$%&'*+.^_`|~");
  EXPECT_EQ(p.head().fields[1].value, "a  b\t\xff");
  EXPECT_EQ(p.head().fields[2].value, "");
}

TEST(request_fields, every_control_byte_but_tab_is_refused_in_values_and_every_separator_in_names) {
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const bool control = (c < 0x20 && c != '\t') || c == 0x7f;
    EXPECT_EQ(with_fields("Host: a\r\nX: a" + std::string(1, byte) + "b\r\n").complete(), !control) << c;
    const bool token =
        c < 0x80 && (std::isalnum(c) != 0 || (c != 0 && "!#$%&'*+-.^_`|~"sv.find(byte) != std::string_view::npos));
    EXPECT_EQ(with_fields("Host: a\r\nX" + std::string(1, byte) + "Y: b\r\n").complete(), token || byte == ':') << c;
  }
}

TEST(request_fields, lines_that_do_not_end_in_crlf_or_go_on_in_the_next_are_refused) {
  for (std::string_view fields :
       {"Host: a\n", "Host: a\r\nX: b\n\r\n", "Host: a\r\nX: b\r\r\n", "Host: a\r\nX: b\rY: c\r\n",
        "Host: a\r\nX: b\r\n c\r\n", "Host: a\r\nX: b\r\n\tc\r\n", " Host: a\r\n", "Host: a\r\n \r\n",
        "Host: a\r\nX\r\n", "Host: a\r\n\rX: b\r\n", "Host: a\r\nX : b\r\n", "Host: a\r\nX\t: b\r\n",
        "Host: a\r\n: b\r\n"}) {
    EXPECT_EQ(with_fields(fields).status(), 400u) << fields;
  }
}

TEST(request_framing, underscore_aliases_of_framing_fields_are_refused_and_others_pass) {
  EXPECT_EQ(with_fields("Host: a\r\ncontent_length: 5\r\n").status(), 400u);
  EXPECT_EQ(with_fields("Host: a\r\nTRANSFER_ENCODING: chunked\r\n").status(), 400u);
  EXPECT_TRUE(with_fields("Host: a\r\nContent_Type: x\r\nX_Y: z\r\nxxxxxxx_xxxxxx: z\r\n").complete());
}

TEST(request_framing, a_length_is_written_one_way_only) {
  for (std::string_view value :
       {"", "00", "01", "5,5", "5, 5", "5;", "5.0", "1e3", "0x5", "9223372036854775808", "5\t5"}) {
    EXPECT_EQ(with_fields("Host: a\r\nContent-Length: " + std::string(value) + "\r\n").status(), 400u) << value;
  }
  EXPECT_EQ(with_fields("Host: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n").status(), 400u);
  const parsed zero = with_fields("Host: a\r\nContent-Length: 0\r\n");
  EXPECT_EQ(zero.head().body, (framing{framing_kind::length, 0}));
  EXPECT_FALSE(zero.head().body.has_body());
  EXPECT_EQ(with_fields("Host: a\r\nContent-Length: 9223372036854775807\r\n").head().body.length, 9223372036854775807u);
}

TEST(request_framing, chunked_is_known_in_any_case_and_nothing_else_is) {
  EXPECT_EQ(with_fields("Host: a\r\nTransfer-Encoding: CHUNKED \r\n").head().body.kind, framing_kind::chunked);
  for (std::string_view value : {"", ",", "chunked,", ", chunked", "chunked, chunked",
                                 "\xa0"
                                 "chunked",
                                 "x", "chunked;", "chunked x"}) {
    EXPECT_EQ(with_fields("Host: a\r\nTransfer-Encoding: " + std::string(value) + "\r\n").status(), 400u) << value;
  }
}

TEST(request_framing, a_known_coding_before_chunked_is_501_and_whatever_else_is_wrong_beside_it_400) {
  const auto status = [](std::string_view value, std::string_view more = {},
                         std::string_view line = "POST / HTTP/1.1") {
    return with_line(line, "Host: a\r\nTransfer-Encoding: " + std::string(value) + "\r\n" + std::string(more)).status();
  };
  for (std::string_view value : {"gzip, chunked", "deflate,chunked", "Compress\t, \tCHUNKED", "x-gzip, chunked",
                                 "x-compress, chunked", "deflate, gzip, chunked"}) {
    EXPECT_EQ(status(value), 501u) << value;
    EXPECT_EQ(status(value, "Content-Length: 5\r\n"), 400u) << value;
    EXPECT_EQ(status(value, "Transfer-Encoding: chunked\r\n"), 400u) << value;
    EXPECT_EQ(status(value, "Transfer-Encoding: gzip\r\n"), 400u) << value;
    EXPECT_EQ(status(value, "Host: b\r\n"), 400u) << value;
    EXPECT_EQ(status(value, {}, "POST / HTTP/1.0"), 400u) << value;
  }
  for (std::string_view value :
       {"gzip", "gzip, deflate", "identity, chunked", "br, chunked", "gzip;q=1, chunked", "gzip, chunked,",
        ", gzip, chunked", "gzip,, chunked", "gzip, , chunked", ", chunked", "gzip chunked", "chunked, gzip",
        "gzip, chunked, chunked", "chunked, gzip, chunked", "gzip, chunked;x", "xgzip, chunked", "\"gzip\", chunked"}) {
    EXPECT_EQ(status(value), 400u) << value;
  }
  EXPECT_EQ(with_fields("Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: gzip, chunked\r\n").status(), 400u);
  EXPECT_EQ(with_fields("Transfer-Encoding: gzip, chunked\r\n").status(), 400u) << "without a Host";
}

TEST(request_connection, credentials_framing_and_the_key_cannot_be_taken_out_by_naming_them) {
  for (std::string_view name : {"Content-Length", "transfer-encoding", "HOST", "Idempotency-Key", "Authorization",
                                "X-API-Key", "Proxy-Authorization", "Cookie"}) {
    EXPECT_EQ(with_fields("Host: a\r\nConnection: close, " + std::string(name) + "\r\n").status(), 400u) << name;
    EXPECT_EQ(with_fields("Connection: " + std::string(name) + "\r\nHost: a\r\n").status(), 400u) << name;
  }
}

TEST(request_connection, named_fields_are_hop_by_hop_wherever_they_stand) {
  const parsed p = with_fields(
      "Host: a\r\nX-One: 1\r\nConnection: x-one,, X-TWO\r\nConnection: x-three\r\nX-Two: 2\r\nX-Three: 3\r\nX-Four: "
      "4\r\n");
  ASSERT_TRUE(p.complete());
  for (std::string_view name : {"X-One", "X-Two", "X-Three", "Connection"})
    EXPECT_TRUE(p.head().find(name)->hop_by_hop) << name;
  for (std::string_view name : {"Host", "X-Four"}) EXPECT_FALSE(p.head().find(name)->hop_by_hop) << name;
}

TEST(request_connection, the_listed_hop_by_hop_fields_are_marked_without_being_named) {
  const parsed p = with_fields(
      "Host: a\r\nKeep-Alive: 5\r\nProxy-Connection: close\r\nTE: trailers\r\nTrailer: X\r\nUpgrade: x\r\n"
      "Transfer-Encoding: chunked\r\nProxy-Authorization: y\r\nProxy-Authenticate: z\r\n");
  ASSERT_TRUE(p.complete());
  for (std::string_view name : {"Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Upgrade", "Transfer-Encoding"}) {
    EXPECT_TRUE(p.head().find(name)->hop_by_hop) << name;
  }
  for (std::string_view name : {"Proxy-Authorization", "Proxy-Authenticate"})
    EXPECT_FALSE(p.head().find(name)->hop_by_hop) << name;
}

TEST(request_connection, naming_hundreds_of_fields_is_refused) {
  std::string names;
  for (int i = 0; i < 65; ++i) names += "x" + std::to_string(i) + ",";
  EXPECT_EQ(with_fields("Host: a\r\nConnection: " + names + "y\r\n").status(), 400u);
}

TEST(request_connection, keep_alive_is_the_default_of_1_1_and_a_wish_in_1_0) {
  EXPECT_TRUE(with_fields("Host: a\r\n").head().keep_alive);
  EXPECT_FALSE(with_fields("Host: a\r\nConnection: x, CLOSE\r\n").head().keep_alive);
  EXPECT_FALSE(with_line("GET / HTTP/1.0").head().keep_alive);
  EXPECT_TRUE(with_line("GET / HTTP/1.0", "Connection: Keep-Alive\r\n").head().keep_alive);
  EXPECT_FALSE(with_line("GET / HTTP/1.0", "Connection: Keep-Alive, close\r\n").head().keep_alive);
}

TEST(request_connection, an_upgrade_needs_both_fields_and_1_1) {
  constexpr auto both = "Host: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n";
  EXPECT_TRUE(with_fields(both).head().upgrade);
  EXPECT_FALSE(with_line("GET / HTTP/1.0", both).head().upgrade);
  EXPECT_FALSE(with_fields("Host: a\r\nUpgrade: websocket\r\n").head().upgrade);
  EXPECT_FALSE(with_fields("Host: a\r\nConnection: upgrade\r\n").head().upgrade);
}

TEST(request_expect, only_100_continue_of_1_1_asks_for_an_interim_answer) {
  EXPECT_TRUE(with_fields("Host: a\r\nExpect: 100-Continue\r\n").head().expect_continue);
  EXPECT_FALSE(with_line("GET / HTTP/1.0", "Expect: 100-continue\r\n").head().expect_continue);
  const parsed other = with_fields("Host: a\r\nExpect: tea\r\n");
  EXPECT_TRUE(other.complete());
  EXPECT_FALSE(other.head().expect_continue);
}

}  // namespace
}  // namespace idem::http::testing
