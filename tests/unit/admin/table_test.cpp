#include "admin/table.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <stdexcept>

#include "admin/address.hpp"

namespace idem::admin {
namespace {

namespace http = boost::beast::http;

class endpoints : public testing::Test {
 protected:
  endpoints() {
    rows.add({"GET", "/thing", [](const request& r) { return answer{200, "got " + std::string(r.query)}; }});
    rows.add({"POST", "/thing", [](const request& r) { return answer{202, "took " + std::string(r.body)}; }});
    rows.add({"POST", "/act", [](const request&) { return answer{}; }});
    rows.add({"GET", "/broken", [](const request&) -> answer { throw std::runtime_error("why"); }});
  }
  http_response ask(const std::string& method, const std::string& target, bool local = true) {
    http_request r;
    r.method_string(method);
    r.target(target);
    r.body() = "body";
    return rows.answer_to(r, local);
  }

  table rows;
};

TEST_F(endpoints, method_and_path_choose_the_handler_and_the_query_does_not) {
  EXPECT_EQ(ask("GET", "/thing?a=1").body(), "got a=1");
  EXPECT_EQ(ask("HEAD", "/thing").body(), "got ");
  EXPECT_EQ(ask("POST", "/thing").body(), "took body");
  EXPECT_EQ(ask("POST", "/thing").result_int(), 202u);
}

TEST_F(endpoints, an_unknown_path_is_404) {
  for (auto path : {"/", "/thing/", "/thingx", "/Thing", "", "*", "http://x/thing"}) {
    EXPECT_EQ(ask("GET", path).result_int(), 404u) << path;
  }
}

TEST_F(endpoints, another_method_is_405_and_names_the_allowed_ones) {
  EXPECT_EQ(ask("GET", "/act").result_int(), 405u);
  EXPECT_EQ(ask("GET", "/act")[http::field::allow], "POST");
  EXPECT_EQ(ask("DELETE", "/thing")[http::field::allow], "GET, HEAD, POST");
  EXPECT_EQ(ask("post", "/act").result_int(), 405u);
}

TEST_F(endpoints, what_changes_something_is_refused_from_elsewhere) {
  EXPECT_EQ(ask("POST", "/act", false).result_int(), 403u);
  EXPECT_EQ(ask("POST", "/thing", false).result_int(), 403u);
  EXPECT_EQ(ask("GET", "/thing", false).result_int(), 200u);
}

TEST_F(endpoints, what_changes_something_is_refused_to_a_web_page) {
  http_request r(http::verb::post, "/act", 11);
  r.set(http::field::origin, "http://evil.example");
  EXPECT_EQ(rows.answer_to(r, true).result_int(), 403u);
}

TEST_F(endpoints, a_handler_that_throws_is_500) { EXPECT_EQ(ask("GET", "/broken").result_int(), 500u); }

TEST(addresses, loopback_and_unix_peers_are_local) {
  auto at = [](const char* address) {
    return stream_endpoint(net::asio::ip::tcp::endpoint(net::asio::ip::make_address(address), 1));
  };
  for (auto a : {"127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"}) EXPECT_TRUE(is_local(at(a))) << a;
  for (auto a : {"10.0.0.1", "128.0.0.1", "0.0.0.0", "::", "fe80::1", "::ffff:10.0.0.1", "::127.0.0.1"}) {
    EXPECT_FALSE(is_local(at(a))) << a;
  }
  EXPECT_TRUE(is_local(stream_endpoint(net::asio::local::stream_protocol::endpoint("/x"))));
}

TEST(readiness, follows_listening_draining_and_the_store_if_it_is_required) {
  EXPECT_TRUE((readiness{true, false, true, true}.ready()));
  EXPECT_TRUE((readiness{true, false, false, false}.ready()));
  EXPECT_FALSE((readiness{true, false, false, true}.ready()));
  EXPECT_FALSE((readiness{true, true, true, false}.ready()));
  EXPECT_FALSE((readiness{false, false, true, false}.ready()));
}

TEST(readiness, says_why) {
  EXPECT_EQ((readiness{true, false, true, true}.text()), "ready\nstore: up\n");
  EXPECT_EQ((readiness{true, false, false, false}.text()), "ready\nstore: down (not required)\n");
  EXPECT_EQ((readiness{true, true, true, true}.text()), "not ready: draining\nstore: up\n");
  EXPECT_EQ((readiness{true, false, false, true}.text()), "not ready: the store is down\nstore: down\n");
  EXPECT_EQ((readiness{false, false, true, true}.text()), "not ready: not listening\nstore: up\n");
}

}  // namespace
}  // namespace idem::admin
