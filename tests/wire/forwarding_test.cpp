// What passes, and what stays behind (RFC 9110 §7.6): exact bytes on both sides.
#include <algorithm>
#include <set>
#include <vector>

#include "wire/wire.hpp"

namespace idem::test {
namespace {

class forwarding : public on_stage {};

TEST_F(forwarding, of_a_request_changes_no_byte_that_is_not_hop_by_hop) {
  for (const std::string& request :
       {std::string(
            "GET /a//b/../%2e/%41?q=%20&&x=;y HTTP/1.1\r\nhOsT: Example.com:80\r\nX-B: 2\r\nx-a: 1\r\nX-B: 3\r\n"
            "Cookie: a=1\r\nCookie: b=2\r\nEmpty: \r\nunder_score: 1\r\n\r\n"),
        std::string("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nUser-Agent: \r\n\r\n"),
        std::string("PURGE /x HTTP/1.1\r\nHost: a\r\n\r\n"), std::string("get /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        std::string("DELETE /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX: y\r\n\r\nhi"),
        std::string(
            "OPTIONS * HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nProxy-Authorization: Basic eA==\r\n\r\n"),
        std::string("GET /x? HTTP/1.1\r\nHost: [::1]:8080\r\nX-Utf8: \xc3\xa9\r\nX-Forwarded-For: 1.2.3.4\r\nVia: 1.1 "
                    "b\r\n\r\n")}) {
    auto w = reach(request);
    EXPECT_EQ(w.request, request);
    EXPECT_EQ(w.backend.within(5ms), "");
  }
}

TEST_F(forwarding, of_a_request_leaves_hop_by_hop_fields_behind) {
  const std::string sent =
      "POST /x HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, X-Drop\r\nX-Keep: 1\r\nx-drop: 1\r\nKeep-Alive: "
      "timeout=5\r\n"
      "Proxy-Connection: keep-alive\r\nTE: trailers\r\nUpgrade: h2c\r\nX-DROP: 2\r\nContent-Length: 2\r\nX-Last: "
      "1\r\n\r\nhi";
  const std::string expected = "POST /x HTTP/1.1\r\nHost: a\r\nX-Keep: 1\r\nContent-Length: 2\r\nX-Last: 1\r\n\r\nhi";
  EXPECT_EQ(reach(sent, expected.size()).request, expected);
}

TEST_F(forwarding, of_an_absolute_form_makes_the_host_of_it) {
  const std::string expected = "GET /p?q HTTP/1.1\r\nX: 1\r\nHost: b.example:81\r\n\r\n";
  EXPECT_EQ(reach("GET http://b.example:81/p?q HTTP/1.1\r\nX: 1\r\nHost: a\r\n\r\n", expected.size()).request,
            expected);
}

TEST_F(forwarding, of_an_absolute_form_without_a_path_asks_for_the_root) {
  for (const auto& [target, origin] :
       {std::pair<std::string, std::string>{"http://b?x=1", "/?x=1"}, {"http://b?", "/?"}, {"http://b", "/"}}) {
    const std::string expected = "GET " + origin + " HTTP/1.1\r\nHost: b\r\n\r\n";
    EXPECT_EQ(reach("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n", expected.size()).request, expected);
  }
}

TEST_F(forwarding, of_an_answer_changes_no_byte_that_is_not_hop_by_hop) {
  for (const std::string& answer :
       {std::string("HTTP/1.1 200 All Right, \xe9h\r\nset-cookie: a=1\r\nX-B: 2\r\nSet-Cookie: b=2; Expires=Wed, 09 "
                    "Jun 2027\r\n"
                    "X-A:\x20\r\nContent-Length: 3\r\nSet-Cookie: c=3\r\nProxy-Authenticate: Basic\r\n\r\nabc"),
        std::string("HTTP/1.1 204 \r\nX: 1\r\n\r\n"), std::string("HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n"),
        std::string("HTTP/1.1 500 \r\nTransfer-Encoding: chunked\r\nX_Y: 1\r\n\r\n3\r\nabc\r\n0\r\n\r\n")}) {
    auto w = reach(plain_get);
    w.backend.send(answer);
    EXPECT_EQ(w.client.read(answer.size()), answer);
    EXPECT_EQ(w.client.within(5ms), "");
  }
}

TEST_F(forwarding, of_an_answer_leaves_hop_by_hop_fields_behind) {
  auto w = reach(plain_get);
  w.backend.send(
      "HTTP/1.1 200 OK\r\nConnection: close, X-Drop\r\nX-Drop: 1\r\nX-Keep: 1\r\nKeep-Alive: timeout=5\r\nUpgrade: "
      "h2c\r\n"
      "Proxy-Connection: close\r\nTrailer: X\r\nContent-Length: 2\r\n\r\nok");
  const std::string expected = "HTTP/1.1 200 OK\r\nX-Keep: 1\r\nContent-Length: 2\r\n\r\nok";
  EXPECT_EQ(w.client.read(expected.size()), expected);
  w.client.send(plain_get);
  EXPECT_TRUE(s().backend.accept().open()) << "the client's connection lives on, the backend's does not";
}

TEST(host_names, with_a_dot_at_the_end_find_their_route_and_pass_as_they_are) {
  host backend;
  proxy_settings settings;
  settings.upstream = backend.url();
  settings.routes = {"{name: api, match: {host: api.example}, idempotency: {}}"};
  const proxy_process proxy(settings);
  const auto post = [](const std::string& name) {
    return "POST /x HTTP/1.1\r\nHost: " + name +
           "\r\nAuthorization: t\r\nIdempotency-Key: k\r\nContent-Length: 2\r\n\r\nhi";
  };
  auto c = peer::connect(proxy.port());
  const auto sent = post("Api.example.:80");
  c.send(sent);
  auto b = backend.accept();
  EXPECT_EQ(b.read(sent.size()), sent);
  b.send(plain_ok);
  EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
  c.send(post("api.example"));
  EXPECT_NE(c.read_head().find("\r\nIdempotent-Replayed: true\r\n"), std::string::npos);
}

// ------------------------------------------------------------------------------------------------------- differential

using lines = std::multiset<std::string>;

lines lines_of(const std::string& message) {
  lines all;
  for (std::size_t at = 0; at < message.size();) {
    const auto end = std::min(message.find("\r\n", at), message.size() - 1);
    all.insert(message.substr(at, end - at));
    at = end + 2;
  }
  return all;
}

lines minus(const lines& a, const lines& b) {
  lines left;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(left, left.end()));
  return left;
}

struct exchange {
  std::string request, answer;
  lines lost_up, new_up, lost_down, new_down;  ///< what the proxy takes from either and adds to it
};

std::string whole(peer& p, const std::string& last) { return p.read_until(last); }

TEST_F(forwarding, differs_from_no_proxy_at_all_only_where_the_document_says) {
  const std::vector<exchange> table = {
      {"GET /x HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nX-End: e\r\n\r\n",
       "HTTP/1.1 200 OK\r\nDate: now\r\nETag: \"x\"\r\nContent-Length: 3\r\n\r\nend",
       {},
       {},
       {},
       {}},
      {"PUT /x HTTP/1.1\r\nHost: a\r\nConnection: X-H\r\nX-H: 1\r\nContent-Length: 3\r\n\r\nend",
       "HTTP/1.1 201 Made\r\nKeep-Alive: timeout=1\r\nLocation: /y\r\nContent-Length: 3\r\n\r\nend",
       {"Connection: X-H", "X-H: 1"},
       {},
       {"Keep-Alive: timeout=1"},
       {}},
      {"PATCH /x HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\nTrailer: "
       "T\r\n\r\n1\r\na\r\n0\r\nT: "
       "1\r\n\r\n",
       "HTTP/1.1 200 OK\r\nTrailer: T\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\nT: 1\r\n\r\n",
       {"TE: trailers"},
       {},
       {},
       {}},
      {"GET /x HTTP/1.0\r\nHost: a\r\nX-End: e\r\n\r\n",
       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend",
       {"GET /x HTTP/1.0"},
       {"GET /x HTTP/1.1"},
       {},
       {"Connection: close"}},
      {"POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: k1\r\nContent-Length: 3\r\n\r\nend",
       "HTTP/1.1 201 Made\r\nSet-Cookie: a=1\r\nSet-Cookie: b=1\r\nContent-Length: 3\r\n\r\nend",
       {},
       {},
       {},
       {}},
  };
  for (const auto& e : table) {
    SCOPED_TRACE(e.request);
    const std::string last_up = e.request.substr(e.request.size() - 5),
                      last_down = e.answer.substr(e.answer.size() - 5);
    auto straight = peer::connect(s().backend.port());
    auto reached = s().backend.accept();
    straight.send(e.request);
    const auto seen = whole(reached, last_up);
    reached.send(e.answer);
    const auto heard = whole(straight, last_down);

    auto c = client();
    c.send(e.request);
    auto b = s().backend.accept();
    const auto seen_through = whole(b, last_up);
    b.send(e.answer);
    const auto heard_through = whole(c, last_down);

    EXPECT_EQ(minus(lines_of(seen), lines_of(seen_through)), e.lost_up);
    EXPECT_EQ(minus(lines_of(seen_through), lines_of(seen)), e.new_up);
    EXPECT_EQ(minus(lines_of(heard), lines_of(heard_through)), e.lost_down);
    EXPECT_EQ(minus(lines_of(heard_through), lines_of(heard)), e.new_down);
  }
}

}  // namespace
}  // namespace idem::test
