// What two readers could read in two ways is refused before a byte of it goes on (docs/http-behaviour.md, "Framing").
// The whole tables are in tests/unit/http; here are the worst of them, through the real sockets.
#include <algorithm>
#include <sstream>
#include <vector>

#include "wire/wire.hpp"

namespace idem::test {
namespace {

class framing : public on_stage {};

struct refusal {
  const char* what;
  std::string request;
  int status = 400;
  std::string code = "malformed-request";
};

const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

std::vector<refusal> refusals() {
  const auto post = [](const std::string& fields) { return "POST /x HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; };
  return {
      {"both framings", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n"},
      {"both framings, the other order", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n"},
      {"another coding", post("Transfer-Encoding: gzip\r\n")},
      {"a coding before chunked", post("Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n", 501},
      {"a coding before chunked, and a length",
       post("Transfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n"},
      {"a coding behind chunked", post("Transfer-Encoding: chunked, gzip\r\n")},
      {"chunked twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n"},
      {"a coding that looks like chunked", post("Transfer-Encoding: xchunked\r\n")},
      {"two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n") + "hello"},
      {"two equal lengths", post("Content-Length: 5\r\nContent-Length: 5\r\n") + "hello"},
      {"a list of lengths", post("Content-Length: 5, 5\r\n") + "hello"},
      {"a signed length", post("Content-Length: +5\r\n") + "hello"},
      {"a length with a leading zero", post("Content-Length: 05\r\n") + "hello"},
      {"chunks in HTTP/1.0", "POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"space before a colon", post("Content-Length : 5\r\n") + "hello"},
      {"a folded line", post("X: 1\r\n Content-Length: 5\r\n") + "hello"},
      {"an underscore alias", post("Content_Length: 5\r\n") + "hello"},
      {"a bare LF in the head", "GET /x HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n"},
      {"a bare CR in a value", post("X: 1\rContent-Length: 5\r\n") + "hello"},
      {"a NUL", "GET /x HTTP/1.1\r\nHost: a" + std::string(1, '\0') + "b\r\n\r\n"},
      {"no Host", "GET /x HTTP/1.1\r\n\r\n"},
      {"two Hosts", "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
      {"Connection names the length", post("Content-Length: 5\r\nConnection: Content-Length\r\n") + "hello"},
      {"Connection names the key", post("Idempotency-Key: k\r\nConnection: Idempotency-Key\r\nContent-Length: 0\r\n")},
      {"a fragment in the target", "GET /x#y HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a target that is no path", "GET x HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405},
      {"HTTP/2 by prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"TLS on a plain port", std::string("\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", 11)},
  };
}

TEST_F(framing, that_can_be_read_in_two_ways_is_refused_and_what_follows_is_never_read) {
  for (const auto& r : refusals()) {
    SCOPED_TRACE(r.what);
    auto c = client();
    c.send(r.request + smuggled);
    c.half_close();
    const auto all = c.rest();
    EXPECT_TRUE(is_last_problem(all, c, r.status, r.code));
  }
  EXPECT_TRUE(backend_untouched());
}

TEST_F(framing, is_judged_the_same_when_bytes_come_one_by_one) {
  for (const auto& r : refusals()) {
    SCOPED_TRACE(r.what);
    auto c = client();
    c.send_byte_by_byte(r.request);
    c.half_close();
    const auto all = c.rest();
    EXPECT_TRUE(is_last_problem(all, c, r.status, r.code));
  }
  EXPECT_TRUE(backend_untouched());
}

TEST(fields_of_a_route, cannot_be_taken_out_by_naming_them_in_connection) {
  host backend;
  proxy_settings settings;
  settings.upstream = backend.url();
  const std::string keyed = "idempotency: {key: {from: [\"header:X-Request-Id\"]}, scope: [\"header:X-Tenant\"]";
  settings.routes = {"{name: enforced, match: {path: /x}, " + keyed + "}}",
                     "{name: observed, match: {path: /o}, " + keyed + ", mode: observe}}"};
  const proxy_process proxy(settings);
  const auto post = [](const std::string& path, const std::string& names) {
    return "POST " + path + " HTTP/1.1\r\nHost: a\r\nConnection: " + names +
           "\r\nX-Request-Id: 1\r\nX-Tenant: t\r\nContent-Length: 2\r\n\r\nhi";
  };
  for (const std::string names : {"X-Request-Id", "keep-alive, x-tenant"}) {
    SCOPED_TRACE(names);
    auto c = peer::connect(proxy.port());
    c.send(post("/x", names) + smuggled);
    c.half_close();
    const auto all = c.rest();
    EXPECT_TRUE(is_last_problem(all, c, 400, "malformed-request"));
  }
  EXPECT_FALSE(backend.accept(50ms).open());
  auto observed = peer::connect(proxy.port());
  observed.send(post("/o", "X-Tenant"));
  EXPECT_EQ(backend.accept().read_head(),
            "POST /o HTTP/1.1\r\nHost: a\r\nX-Request-Id: 1\r\nContent-Length: 2\r\n\r\n");
}

TEST_F(framing, of_a_good_request_survives_coming_byte_by_byte) {
  const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  auto c = client();
  c.send_byte_by_byte("\r\n" + head + "5;ext=\"a\"\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n");
  auto b = s().backend.accept();
  EXPECT_EQ(b.read_head(), head);
  std::string body;
  for (auto size = b.read_until("\r\n"); size != "0\r\n" && !size.empty(); size = b.read_until("\r\n")) {
    EXPECT_EQ(size.find(';'), std::string::npos) << "extensions stay behind: " << size;
    const auto n = std::stoul(size, nullptr, 16);
    body += b.read(n);
    EXPECT_EQ(b.read(2), "\r\n");
  }
  EXPECT_EQ(body, "hello");
  EXPECT_EQ(b.read_head(), "X-Sum: 1\r\n\r\n");
  b.send_byte_by_byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
  EXPECT_EQ(c.read_head(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_TRUE(c.read_until("0\r\n\r\n").ends_with("\r\n0\r\n\r\n"));
}

TEST_F(framing, of_a_body_that_breaks_on_its_way_is_never_made_whole_at_the_backend) {
  const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string bad : {"ZZ\r\n", "5 \r\nworld\r\n", "5\nworld\r\n", "5\r\nworld0\r\n\r\n", "-1\r\n",
                                "10000000000000000\r\n", "0\r\nBad Trailer: 1\r\n\r\n"}) {
    SCOPED_TRACE(bad);
    auto w = reach(head + "5\r\nhello\r\n", head.size() + 10);
    EXPECT_EQ(w.request, head + "5\r\nhello\r\n");
    w.client.send(bad + smuggled);
    const auto all = w.client.rest();
    EXPECT_TRUE(is_last_problem(all, w.client, 400, "malformed-request"));
    const auto more = w.backend.rest();
    EXPECT_EQ(more.find("0\r\n\r\n"), std::string::npos) << more;
    EXPECT_EQ(more.find("smuggled"), std::string::npos) << more;
    EXPECT_NE(w.backend.ended(), peer::end::none);
  }
}

TEST_F(framing, of_an_upload_that_is_cut_is_never_made_whole_at_the_backend) {
  const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n";
  for (const bool hard : {false, true}) {
    auto w = reach(head + "hello", head.size() + 5);
    if (hard) {
      w.client.reset();
    } else {
      w.client.half_close();
    }
    EXPECT_EQ(w.backend.rest(), "");
    EXPECT_NE(w.backend.ended(), peer::end::none);
    if (!hard) EXPECT_EQ(w.client.rest().find("HTTP/1.1 200"), std::string::npos);
  }
}

TEST_F(framing, of_an_upload_that_is_cut_after_the_answer_began_is_told_to_the_backend_at_once) {
  const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n";
  const std::string begun = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
  for (const bool hard : {false, true}) {
    auto w = reach(head + "hello", head.size() + 5);
    w.backend.send(begun + "ab");
    EXPECT_EQ(w.client.read(begun.size() + 2), begun + "ab");
    if (hard) {
      w.client.reset();
    } else {
      w.client.half_close();
    }
    EXPECT_EQ(w.backend.rest(), "");
    EXPECT_NE(w.backend.ended(), peer::end::none);
    if (hard) continue;
    w.backend.send("cd");
    EXPECT_EQ(w.client.rest(), "cd") << "it may still say what it has to say";
    EXPECT_EQ(w.client.ended(), peer::end::clean);
  }
}

TEST_F(framing, of_an_answer_that_can_be_read_in_two_ways_becomes_502) {
  const auto ok = [](const std::string& fields) { return "HTTP/1.1 200 OK\r\n" + fields + "\r\nhello"; };
  for (const std::string& answer :
       {ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        ok("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), ok("Content-Length: 5\r\nContent-Length: 6\r\n"),
        ok("Content-Length: 5x\r\n"), ok("Transfer-Encoding: gzip\r\n"), ok("X : 1\r\n"), ok("X: 1\r\n folded\r\n"),
        std::string("HTTP/1.1 200\r\n\r\n"), std::string("HTTP/1.1 099 Low\r\n\r\n"),
        std::string("HTTP/1.1 600 High\r\n\r\n"), std::string("HTTP/2 200 OK\r\n\r\n"), std::string("+PONG\r\n"),
        std::string("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")}) {
    SCOPED_TRACE(answer);
    auto w = reach(plain_get);
    w.backend.send(answer);
    EXPECT_TRUE(is_problem(w.client.read_head(), 502, "upstream-failed"));
    w.backend.rest();
    EXPECT_NE(w.backend.ended(), peer::end::none) << "such a connection is not used again";
  }
  EXPECT_TRUE(
      eventually([] { return s().proxy->log().find("lacks the space after the status code") != std::string::npos; }));
}

TEST_F(framing, of_pipelined_requests_keeps_them_in_order_and_one_at_a_time) {
  const std::string one = "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
                    two = "POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ndef\r\n0\r\n\r\n",
                    three = "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n";
  auto w = reach(one + two + "\r\n" + three, one.size());
  EXPECT_EQ(w.request, one);
  EXPECT_EQ(w.backend.within(50ms), "") << "the second waits for the first";
  std::string answers;
  for (const auto& next : {two, three, std::string()}) {
    const auto answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(answers.size() % 7);
    answers += answer;
    w.backend.send(answer);
    if (!next.empty()) EXPECT_EQ(w.backend.read(next.size()), next);
  }
  EXPECT_EQ(w.client.read(answers.size()), answers);
}

TEST_F(framing, of_many_pipelined_requests_lets_other_connections_have_their_turn) {
  constexpr int count = 150;  // one read takes nearly all of them
  // without a key's value, so that neither store nor backend is waited for
  const auto refused = [](int times, int size) {
    std::string all;
    for (; times > 0; --times)
      all += "POST /keyed HTTP/1.1\r\nHost: a\r\nIdempotency-Key:\r\nContent-Length: " + std::to_string(size) +
             "\r\n\r\n" + std::string(static_cast<std::size_t>(size), 'x');
    return all;
  };
  auto one = client(), other = client();
  for (auto* c : {&one, &other}) {
    c->send(refused(1, 0));
    EXPECT_TRUE(is_problem(c->read_until("}"), 400, "malformed-key"));
  }
  s().proxy->pause();
  one.send(refused(count, 11));
  other.send(refused(count, 13));
  s().proxy->resume();
  int all = 0, in_a_row = 0, most = 0;
  EXPECT_TRUE(eventually([&] {
    std::istringstream lines(s().proxy->log());
    std::string last;
    all = most = 0;
    for (std::string line; std::getline(lines, line);) {
      std::string whose;
      for (const char* of : {"\"bytes_in\":11,", "\"bytes_in\":13,"}) {
        if (line.find(of) != line.npos) whose = of;
      }
      if (whose.empty()) continue;
      in_a_row = whose == last ? in_a_row + 1 : 1;
      most = std::max(most, in_a_row);
      last = whose;
      ++all;
    }
    return all == 2 * count;
  })) << all;
  EXPECT_LE(most, count / 4);
}

TEST_F(framing, of_a_request_that_asks_for_the_end_leaves_what_follows_it_unread) {
  const std::string asked = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  auto w = reach(asked + smuggled, plain_get.size());
  EXPECT_EQ(w.request, plain_get);
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.rest(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  EXPECT_EQ(w.backend.within(50ms), "");
  EXPECT_TRUE(backend_untouched());
}

}  // namespace
}  // namespace idem::test
