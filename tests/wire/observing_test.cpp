// Where a route only observes, every byte passes as it does on no route, and when it comes.
#include "wire/wire.hpp"

namespace idem::test {
namespace {

class observed_requests : public ::testing::Test {
 protected:
  observed_requests() {
    s.settings.routes = {
        "{name: observed, match: {path: /observed}, idempotency: {mode: observe, max_request_body: 1KiB}}"};
    s.proxy->reload(s.settings);
  }
  way reach(std::string_view request) {
    way w{s.client(), {}, {}};
    w.client.send(request);
    w.backend = s.backend.accept();
    w.request = w.backend.read(request.size());
    return w;
  }
  static std::string head(const std::string& fields) {
    return "POST /observed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: k\r\n" + fields + "\r\n";
  }
  bool counted(const std::string& decision, double n = 1) const {
    const auto sample = "idempotency_proxy_requests_total{route=\"observed\",decision=\"" + decision + "\"}";
    return eventually([&] { return s.proxy->metric(sample).value_or(0) == n; });
  }

  stage s;
};

TEST_F(observed_requests, pass_piece_by_piece_and_hear_interim_answers_amid_their_body) {
  const auto part = head("Content-Length: 10\r\n") + "01234";
  auto w = reach(part);
  EXPECT_EQ(w.request, part) << "nobody waits for the rest";
  const std::string hint = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
  w.backend.send(hint);
  EXPECT_EQ(w.client.read(hint.size()), hint);
  w.client.send("56789");
  EXPECT_EQ(w.backend.read(5), "56789");
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  EXPECT_TRUE(counted("observed_execute"));
}

TEST_F(observed_requests, hear_an_early_answer_amid_their_body) {
  auto w = reach(head("Content-Length: 10\r\n") + "01234");
  w.backend.send("HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
  const std::string no = "HTTP/1.1 413 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(w.client.read(no.size()), no);
  EXPECT_EQ(w.client.rest(), "");
  EXPECT_TRUE(counted("observed_other"));
}

TEST_F(observed_requests, may_have_their_answer_while_their_body_goes_on) {
  auto w = reach(head("Transfer-Encoding: chunked\r\n") + "2\r\nhi\r\n");
  const std::string begun = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nho\r\n", end = "0\r\n\r\n";
  w.backend.send(begun);
  EXPECT_EQ(w.client.read(begun.size()), begun);
  w.client.send(end);
  EXPECT_EQ(w.backend.read(end.size()), end);
  w.backend.send(end);
  EXPECT_EQ(w.client.read(end.size()), end);
  EXPECT_TRUE(counted("observed_execute"));
}

TEST_F(observed_requests, are_asked_for_their_body_by_the_backend_alone) {
  const auto asks = head("Expect: 100-continue\r\nContent-Length: 5\r\n");
  auto w = reach(asks);
  EXPECT_EQ(w.request, asks);
  EXPECT_EQ(w.client.within(30ms), "") << "nobody has said yes yet";
  const std::string yes = "HTTP/1.1 100 Go On\r\nX: 1\r\n\r\n";
  w.backend.send(yes);
  EXPECT_EQ(w.client.read(yes.size()), yes);
  w.client.send("hello");
  EXPECT_EQ(w.backend.read(5), "hello");
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  EXPECT_TRUE(counted("observed_execute"));
}

TEST_F(observed_requests, keep_their_framing_and_their_trailers) {
  const auto request =
      head("Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n") + "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n";
  auto w = reach(request);
  EXPECT_EQ(w.request, request);
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  EXPECT_TRUE(counted("observed_execute"));
}

TEST_F(observed_requests, that_are_too_large_to_be_compared_pass_whole) {
  const std::string body(3000, 'x');
  const auto request = head("Content-Length: 3000\r\n") + body;
  auto w = reach(request);
  EXPECT_EQ(w.request, request);
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  EXPECT_TRUE(counted("observed_other"));
}

TEST_F(observed_requests, that_follow_each_other_on_a_connection_are_all_observed) {
  auto w = reach(head("Content-Length: 2\r\n") + "hi");
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  const auto next = head("Content-Length: 2\r\n") + "hi";
  w.client.send(next + next);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(w.backend.read(next.size()), next);
    w.backend.send(plain_ok);
    EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  }
  EXPECT_TRUE(counted("observed_execute"));
  EXPECT_TRUE(counted("observed_replay", 2));
}

}  // namespace
}  // namespace idem::test
