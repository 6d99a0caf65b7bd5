// The block `cors`: an origin that no browser sends would never be equal to one, and nobody would notice.
#include <gtest/gtest.h>

#include "idem/config/show.hpp"
#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using strings = std::vector<std::string>;
using test::is_clean;
using test::reports;
using test::with_block;

cors_config cors_of(const std::string& file) {
  const auto config = test::loaded(file).config;
  return config ? config->routes.at(0).idempotency.cors : cors_config();
}

/// A file with the list `origins`, which begins on line 7, column 23.
std::string with_origins(const std::string& origins) { return with_block("cors: {origins: " + origins + "}"); }

/// `defaults` on line 3, and a route on line 4 whose block begins in column 53.
std::string under(const std::string& defaults, const std::string& text) {
  return test::with_routes("defaults: {" + defaults + "}\nroutes: [{name: a, match: {path: /a}, idempotency: {" + text +
                           "}}]\n");
}

TEST(cors, is_off_unless_there_are_origins) {
  EXPECT_EQ(cors_of(with_block("lease: 15s")).origins, strings());
  EXPECT_FALSE(cors_of(with_block("lease: 15s")).credentials);
  EXPECT_TRUE(is_clean(with_origins("[]")));
}

TEST(cors, takes_origins_as_browsers_send_them) {
  const auto all = cors_of(with_origins(
      "[\"https://shop.example\", \"http://localhost:3000\", \"http://127.0.0.1:8080\", \"http://[::1]:8080\", "
      "\"https://[::1]\", \"http://a.example:443\", \"https://a.example:80\", \"capacitor://localhost\", "
      "\"chrome-extension://abcdef\", \"https://xn--bcher-kva.example\"]"));
  EXPECT_EQ(all.origins,
            (strings{"https://shop.example", "http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:8080",
                     "https://[::1]", "http://a.example:443", "https://a.example:80", "capacitor://localhost",
                     "chrome-extension://abcdef", "https://xn--bcher-kva.example"}));
  EXPECT_TRUE(is_clean(with_block("cors: {origins: [\"https://shop.example\"], credentials: true}")));
  const auto any = cors_of(with_origins("[\"*\"]"));
  EXPECT_TRUE(any.any_origin());
}

TEST(cors, refuses_what_no_browser_sends_and_says_where_it_stands) {
  struct {
    const char *origin, *why;
  } const table[] = {
      {"", "is no origin, expected scheme://host[:port]"},
      {"shop.example", "is no origin, expected scheme://host[:port]"},
      {"//shop.example", "is no origin, expected scheme://host[:port]"},
      {"://shop.example", "is no origin, expected scheme://host[:port]"},
      {"1a://shop.example", "is no origin, expected scheme://host[:port]"},
      {"ht tp://shop.example", "is no origin, expected scheme://host[:port]"},
      {"https:shop.example", "is no origin, expected scheme://host[:port]"},
      {"https://a.example,https://b.example", "has a path, expected scheme://host[:port]"},
      {"https://", "has no host"},
      {"https://:8080", "has no host"},
      {"https://shop example", "has no valid host name"},
      {"https://shop.example\\r\\nx: y", "has no valid"},
      {"https://b\u00fccher.example", "has no valid host name"},
      {"https://1.2.3", "has no valid IPv4 address"},
      {"https://::1", "has an IPv6 address without brackets"},
      {"https://shop.example/", "ends with a slash, expected none"},
      {"https://shop.example/cart", "has a path, expected scheme://host[:port]"},
      {"https://shop.example//", "has a path, expected scheme://host[:port]"},
      {"https://shop.example?", "has a path, expected scheme://host[:port]"},
      {"https://shop.example#a", "has a path, expected scheme://host[:port]"},
      {"https://me@shop.example", "has a user or password"},
      {"HTTPS://shop.example", "has capitals"},
      {"https://Shop.example", "has capitals"},
      {"https://[::A]", "has capitals"},
      {"https://shop.example:443", "has the default port of its scheme"},
      {"http://shop.example:80", "has the default port of its scheme"},
      {"https://[::1]:443", "has the default port of its scheme"},
      {"https://shop.example:", "has no valid port"},
      {"https://shop.example:0", "has no valid port"},
      {"https://shop.example:08443", "has no valid port"},
      {"https://shop.example:65536", "has no valid port"},
      {"https://shop.example:x", "has no valid port"},
      {"null", "expected an origin of one site"},
      {"https://*.shop.example", "has a wildcard"},
      {"https://*", "has a wildcard"},
  };
  for (const auto& t : table) {
    const std::string file = with_origins("[\"http://a\", \"" + std::string(t.origin) + "\"]");
    EXPECT_TRUE(reports(file, "f:7:36: error: routes[0].idempotency.cors.origins[1]: ", t.why)) << t.origin;
    EXPECT_FALSE(load_text(file, "f").ok()) << t.origin;
  }
  EXPECT_TRUE(reports(with_origins("[null]"), "f:7:24: error: routes[0].idempotency.cors.origins[0]: "));
  EXPECT_TRUE(reports(with_origins("https://a"), "f:7:23: error: routes[0].idempotency.cors.origins: ", "a list of"));
}

TEST(cors, refuses_an_origin_that_stands_twice) {
  EXPECT_TRUE(reports(with_origins("[\"https://a\", \"https://b\", \"https://a\"]"),
                      "f:7:50: error: routes[0].idempotency.cors.origins[2]: \"https://a\" stands twice in the list"));
}

TEST(cors, refuses_all_origins_beside_others) {
  EXPECT_TRUE(reports(with_origins("[\"https://a\", \"*\"]"),
                      "f:7:37: error: routes[0].idempotency.cors.origins[1]: \"*\" stands beside others"));
  EXPECT_TRUE(reports(with_origins("[\"*\", \"https://a\"]"),
                      "f:7:24: error: routes[0].idempotency.cors.origins[0]: \"*\" stands beside others"));
}

TEST(cors, refuses_credentials_with_all_origins_wherever_each_was_said) {
  const std::string why = "\"*\" does not go with `credentials: true` on line ";
  EXPECT_TRUE(reports(with_block("cors: {origins: [\"*\"], credentials: true}"),
                      "f:7:23: error: routes[0].idempotency.cors.origins: " + why + "7"));
  EXPECT_TRUE(reports(under("cors: {credentials: true}", "cors: {origins: [\"*\"]}"),
                      "f:4:69: error: routes[0].idempotency.cors.origins: " + why + "3"));
  EXPECT_TRUE(reports(under("cors: {origins: [\"*\"]}", "cors: {credentials: true}"),
                      "f:3:28: error: defaults.cors.origins: " + why + "4"));
  EXPECT_TRUE(is_clean(under("cors: {origins: [\"*\"]}", "cors: {credentials: true, origins: [\"https://a\"]}")));
}

TEST(cors, of_a_route_goes_over_the_one_of_defaults_key_by_key) {
  const std::string defaults = "cors: {origins: [\"https://a\", \"https://b\"], credentials: true}";
  const auto both = cors_of(under(defaults, "lease: 15s"));
  EXPECT_EQ(both.origins, (strings{"https://a", "https://b"}));
  EXPECT_TRUE(both.credentials);
  const auto other = cors_of(under(defaults, "cors: {origins: [\"https://c\"]}"));
  EXPECT_EQ(other.origins, strings{"https://c"});
  EXPECT_TRUE(other.credentials);
  const auto without = cors_of(under(defaults, "cors: {credentials: false}"));
  EXPECT_EQ(without.origins.size(), 2u);
  EXPECT_FALSE(without.credentials);
  EXPECT_EQ(cors_of(under(defaults, "cors: {origins: []}")).origins, strings());
  EXPECT_TRUE(is_clean(under(defaults, "cors: {origins: []}"))) << "credentials that nobody asks for do no harm";
}

TEST(cors, is_shown_as_it_is_in_force) {
  const auto config = test::loaded(under("cors: {credentials: true}", "cors: {origins: [\"https://a:1\"]}")).config;
  ASSERT_TRUE(config);
  const std::string shown = show_routes(*config);
  EXPECT_NE(shown.find("      cors:\n        origins: [\"https://a:1\"]\n        credentials: true\n"),
            std::string::npos)
      << shown;
  const auto again = test::loaded(test::with_routes(shown)).config;
  ASSERT_TRUE(again);
  EXPECT_EQ(show_routes(*again), shown);
}

}  // namespace
}  // namespace idem::config
