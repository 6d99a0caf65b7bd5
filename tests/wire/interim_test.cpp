// 1xx answers and Expect (RFC 9110 §15.2, §10.1.1).
#include "wire/wire.hpp"

namespace idem::test {
namespace {

class interim_answers : public on_stage {};
class expectations : public on_stage {};

TEST_F(interim_answers, are_relayed_in_order_without_framing_and_hop_by_hop_fields) {
  auto w = reach(plain_get);
  std::string expected;
  for (int i = 0; i < 5; ++i) {
    const auto link = "Link: </" + std::to_string(i) + ".css>; rel=preload\r\n";
    w.backend.send("HTTP/1.1 103 Early Hints\r\n" + link + "Connection: X-H\r\nX-H: 1\r\nContent-Length: 7\r\n\r\n");
    expected += "HTTP/1.1 103 Early Hints\r\n" + link + "\r\n";
    EXPECT_EQ(w.client.read(expected.size() / static_cast<std::size_t>(i + 1)).substr(0, 12), "HTTP/1.1 103")
        << "at once";
  }
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
  EXPECT_EQ(w.client.within(5ms), "");
}

TEST_F(interim_answers, of_a_flood_are_relayed_eight_times_and_the_answer_follows) {
  auto w = reach(plain_get);
  std::string flood;
  for (int i = 0; i < 50; ++i) flood += "HTTP/1.1 102 Processing\r\nX-N: " + std::to_string(i % 10) + "\r\n\r\n";
  w.backend.send(flood + std::string(plain_ok));
  const auto expected = flood.substr(0, flood.size() / 50 * 8) + std::string(plain_ok);
  EXPECT_EQ(w.client.read(expected.size()), expected);
}

TEST_F(interim_answers, do_not_speak_for_the_proxy_on_keyed_routes) {
  const std::string request =
      "POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: i1\r\nContent-Length: 2\r\n\r\nhi";
  auto w = reach(request);
  w.backend.send("HTTP/1.1 103 Early Hints\r\nIdempotency-Status: in-flight\r\nX: 1\r\n\r\n" + std::string(plain_ok));
  EXPECT_EQ(w.client.read_head(), "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n");
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
}

TEST_F(interim_answers, do_not_go_to_clients_of_1_0) {
  auto w = reach("GET /x HTTP/1.0\r\nHost: a\r\n\r\n", plain_get.size());
  w.backend.send("HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n" + std::string(plain_ok));
  EXPECT_EQ(w.client.rest(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
}

TEST_F(interim_answers, of_100_go_only_to_clients_that_wait_for_one) {
  auto w = reach(plain_get);
  w.backend.send("HTTP/1.1 100 Continue\r\n\r\n" + std::string(plain_ok));
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
}

TEST_F(expectations, are_forwarded_where_the_body_streams_and_the_backends_100_comes_back) {
  const std::string head = "PUT /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  auto w = reach(head);
  EXPECT_EQ(w.request, head);
  EXPECT_EQ(w.client.within(30ms), "") << "nobody has said yes yet";
  w.backend.send("HTTP/1.1 100 Go On\r\nX: 1\r\n\r\n");
  EXPECT_EQ(w.client.read_head(), "HTTP/1.1 100 Go On\r\nX: 1\r\n\r\n");
  w.client.send("hello");
  EXPECT_EQ(w.backend.read(5), "hello");
  w.backend.send(plain_ok);
  EXPECT_EQ(w.client.read(plain_ok.size()), plain_ok);
}

TEST_F(expectations, of_clients_of_1_0_are_ignored_and_not_forwarded) {
  const std::string expected = "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
  const auto w =
      reach("PUT /x HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello", expected.size());
  EXPECT_EQ(w.request, expected);
}

TEST_F(expectations, that_the_backend_declines_end_with_its_answer_and_the_connection) {
  auto w = reach("PUT /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  w.backend.send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n");
  const std::string no = "HTTP/1.1 417 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(w.client.read(no.size()), no);
  EXPECT_EQ(w.client.rest(), "");
  EXPECT_EQ(w.client.ended(), peer::end::clean) << "the five bytes may still come: this connection is of no more use";
}

TEST_F(expectations, are_met_by_the_proxy_where_it_buffers_the_body) {
  const std::string fields = "Host: a\r\nAuthorization: t\r\nIdempotency-Key: e1\r\n";
  auto c = client();
  c.send("POST /keyed HTTP/1.1\r\n" + fields + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(c.read_head(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(backend_untouched());
  c.send("hello");
  auto b = s().backend.accept();
  const auto expected = "POST /keyed HTTP/1.1\r\n" + fields + "Content-Length: 5\r\n\r\nhello";
  EXPECT_EQ(b.read(expected.size()), expected);
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
}

TEST_F(expectations, are_met_once_though_the_backend_says_100_as_well) {
  stage own;
  own.settings.routes = {"{name: named, match: {path: /named}, idempotency: {key: {from: [\"json:/id\"]}}}"};
  own.proxy->reload(own.settings);
  auto c = own.client();
  c.send(
      "POST /named HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nContent-Type: application/json\r\n"
      "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(c.read_head(), "HTTP/1.1 100 Continue\r\n\r\n");
  c.send("{}");  // it passes without a key, though its body had to be read
  auto b = own.backend.accept();
  b.read_until("\r\n\r\n{}");
  b.send("HTTP/1.1 100 Continue\r\n\r\n" + std::string(plain_ok));
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
}

TEST_F(expectations, give_way_to_a_refusal_that_needs_no_body) {
  struct {
    std::string fields;
    int status;
    const char* code;
  } const table[] = {{"Idempotency-Key: e2\r\nContent-Length: 1025\r\n", 413, "request-too-large"},
                     {"Idempotency-Key: e2\r\nIdempotency-Key: e3\r\nContent-Length: 5\r\n", 400, "malformed-key"}};
  for (const auto& t : table) {
    auto c = client();
    c.send("POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nExpect: 100-continue\r\n" + t.fields + "\r\n");
    const auto all = c.rest();
    EXPECT_TRUE(is_last_problem(all, c, t.status, t.code));
  }
  EXPECT_TRUE(backend_untouched());
}

}  // namespace
}  // namespace idem::test
