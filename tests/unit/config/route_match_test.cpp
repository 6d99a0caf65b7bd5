#include "idem/config/route_match.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "unit/config/support.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}

// Counted for the whole test program: what a request costs is asserted below. Sanitizers bring operators of their own,
// which ThreadSanitizer does not let a program replace.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IDEM_COUNTS_ALLOCATIONS 0
#else
#define IDEM_COUNTS_ALLOCATIONS 1
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace idem::config {
namespace {

using test::reports;
using test::with_routes;

/// The match block as a file would give it.
route_match match_of(const std::string& block) {
  return test::loaded(with_routes("routes: [{name: a, match: {" + block + "}}]\n")).config->routes.at(0).match;
}

bool takes(const route_match& match, std::string_view method, std::string_view authority, std::string_view path) {
  path_captures captures;
  return match.matches(method, authority, path, captures);
}

TEST(route, takes_every_path_of_every_host_by_post_unless_told_otherwise) {
  const route_match match = match_of("");
  EXPECT_TRUE(takes(match, "POST", "a", "/any/thing"));
  EXPECT_FALSE(takes(match, "GET", "a", "/any/thing"));
  EXPECT_FALSE(takes(match, "post", "a", "/any/thing"));
}

TEST(route, an_exact_path_is_compared_byte_by_byte) {
  const route_match match = match_of("path: /v1/charges");
  EXPECT_TRUE(takes(match, "POST", "", "/v1/charges"));
  for (const char* path :
       {"/v1/charges/", "/v1/Charges", "/v1//charges", "/v1/charge", "/v1/charges%20", "/v1/%63harges", ""}) {
    EXPECT_FALSE(takes(match, "POST", "", path)) << path;
  }
}

TEST(route, a_prefix_takes_what_begins_with_it) {
  const route_match match = match_of("prefix: /v1/");
  EXPECT_TRUE(takes(match, "POST", "", "/v1/"));
  EXPECT_TRUE(takes(match, "POST", "", "/v1/a/b"));
  EXPECT_FALSE(takes(match, "POST", "", "/v1"));
  EXPECT_FALSE(takes(match, "POST", "", "/v2/v1/"));
}

TEST(route, a_template_takes_whole_segments_that_are_not_empty) {
  const route_match match = match_of("path: \"/v1/{account}/charges/{id}\"");
  path_captures captures;
  const std::string path = "/v1/acct%2F1/charges/42";
  ASSERT_TRUE(match.matches("POST", "", path, captures));
  ASSERT_EQ(captures.size(), 2u);
  EXPECT_EQ(captures[0], (std::pair<std::string_view, std::string_view>("account", "acct%2F1")));
  EXPECT_EQ(captures[1], (std::pair<std::string_view, std::string_view>("id", "42")));
  EXPECT_EQ(captures[1].second.data(), path.data() + path.size() - 2) << "a view into the request's path";
  for (const char* other :
       {"/v1//charges/42", "/v1/a/charges/", "/v1/a/charges/42/", "/v1/a/charges", "/v1/a/b/charges/42",
        "/v1/a/Charges/42", "v1/a/charges/42", "/v1/a/charges/42/more", "", "/"}) {
    EXPECT_FALSE(match.matches("POST", "", other, captures)) << other;
    EXPECT_TRUE(captures.empty()) << other;
  }
}

TEST(route, a_host_counts_without_case_its_port_and_a_dot_at_its_end) {
  for (const char* written : {"host: API.example.com", "host: api.example.com."}) {
    const route_match match = match_of(written);
    for (const char* host :
         {"api.example.com", "API.Example.COM", "api.example.com:8443", "api.example.com.", "Api.example.com.:8443"})
      EXPECT_TRUE(takes(match, "POST", host, "/")) << host;
    for (const char* host :
         {"", ".", "example.com", "api.example.com..", "xapi.example.com", ":80", ".:80", "api.example.comx:80"}) {
      EXPECT_FALSE(takes(match, "POST", host, "/")) << host;
    }
  }
}

TEST(route, an_ipv6_host_stands_in_brackets) {
  const route_match match = match_of("host: \"[::AB]\"");
  EXPECT_TRUE(takes(match, "POST", "[::ab]", "/"));
  EXPECT_TRUE(takes(match, "POST", "[::AB]:80", "/"));
  EXPECT_FALSE(takes(match, "POST", "[::a]:80", "/"));
  EXPECT_FALSE(takes(match, "POST", "[::ab", "/"));
}

TEST(route, only_the_listed_methods_are_taken) {
  const route_match match = match_of("methods: [PUT, M-SEARCH]");
  EXPECT_TRUE(takes(match, "PUT", "", "/"));
  EXPECT_TRUE(takes(match, "M-SEARCH", "", "/"));
  EXPECT_FALSE(takes(match, "POST", "", "/"));
}

TEST(snapshot, the_first_route_that_matches_is_found) {
  const auto config =
      test::loaded(
          with_routes(
              "routes:\n  - {name: exact, match: {path: /a/b}}\n  - {name: templated, match: {path: \"/a/{x}\"}}\n"
              "  - {name: rest, match: {prefix: /}}\n"))
          .config;
  path_captures captures;
  EXPECT_EQ(config->find("POST", "h", "/a/b", captures)->name, "exact");
  EXPECT_EQ(config->find("POST", "h", "/a/c", captures)->name, "templated");
  EXPECT_EQ(captures.size(), 1u);
  EXPECT_EQ(config->find("POST", "h", "/a/c/d", captures)->name, "rest");
  EXPECT_TRUE(captures.empty()) << "of the route before";
  EXPECT_EQ(config->find("GET", "h", "/a/b", captures), nullptr);
}

TEST(snapshot, finding_a_route_allocates_nothing_without_templates) {
  if (!IDEM_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer has operators of its own: nothing is counted";
  const auto config = test::loaded(with_routes("routes:\n  - {name: exact, match: {path: /a/b, host: "
                                               "api.example.com}}\n  - {name: rest, match: {prefix: /c/}}\n"))
                          .config;
  path_captures captures;
  const std::size_t before = allocations;
  const route* exact = config->find("POST", "API.example.com:443", "/a/b", captures);
  const route* prefix = config->find("POST", "other", "/c/d", captures);
  const route* none = config->find("POST", "other", "/d", captures);
  const std::size_t after = allocations;
  EXPECT_EQ(after, before);
  EXPECT_TRUE(exact && prefix && !none);
}

TEST(covers, says_which_routes_can_never_be_reached) {
  const std::tuple<const char*, const char*, bool> cases[] = {
      {"", "path: /a", true},
      {"", "prefix: /", true},
      {"", "path: \"/{a}\"", true},
      {"path: /a", "path: /a", true},
      {"path: /a", "path: /b", false},
      {"path: /a", "prefix: /a", false},
      {"path: /a", "", false},
      {"prefix: /v1/", "path: /v1/a", true},
      {"prefix: /v1/", "path: /v1", false},
      {"prefix: /v1/", "prefix: /v1/a/", true},
      {"prefix: /v1/a/", "prefix: /v1/", false},
      {"prefix: /v1/", "path: \"/v1/{a}\"", true},
      {"prefix: /v1/a", "path: \"/v1/{a}\"", false},
      {"prefix: /v1/", "", false},
      {"prefix: /", "", true},
      {"prefix: /, methods: [OPTIONS]", "methods: [OPTIONS]", false},
      {"path: \"/v1/{a}\"", "path: /v1/x", true},
      {"path: \"/v1/{a}\"", "path: /v1/", false},
      {"path: \"/v1/{a}\"", "path: /v1/x/y", false},
      {"path: \"/v1/{a}\"", "path: \"/v1/{b}\"", true},
      {"path: \"/v1/{a}/x\"", "path: \"/v1/{b}/{c}\"", false},
      {"path: \"/v1/{a}/{c}\"", "path: \"/v1/{b}/x\"", true},
      {"path: \"/v1/{a}/{c}\"", "path: \"/v1/{b}/\"", false},
      {"path: \"/v1/{a}\"", "prefix: /v1/x", false},
      {"path: /a, methods: [POST, PUT]", "path: /a, methods: [PUT]", true},
      {"path: /a, methods: [POST]", "path: /a, methods: [POST, PUT]", false},
      {"path: /a, host: h", "path: /a", false},
      {"path: /a", "path: /a, host: h", true},
      {"path: /a, host: h", "path: /a, host: H", true},
      {"path: /a, host: h", "path: /a, host: i", false},
  };
  for (const auto& [wide, narrow, covered] : cases) {
    EXPECT_EQ(match_of(wide).covers(match_of(narrow)), covered) << wide << " | " << narrow;
  }
}

TEST(match_block, a_path_beside_a_prefix_is_an_error) {
  EXPECT_TRUE(reports(with_routes("routes: [{name: a, match: {path: /a, prefix: /b}}]\n"),
                      "f:3:46: error: routes[0].match.prefix: stands beside path"));
}

TEST(match_block, faulty_paths_are_errors_at_their_place) {
  const std::tuple<const char*, const char*> cases[] = {{"a", "does not begin with /"},
                                                        {"/a?b", "query or fragment"},
                                                        {"/a#b", "query or fragment"},
                                                        {"/a b", "percent-encoded"},
                                                        {"/ä", "percent-encoded"},
                                                        {"/a/x{b}", "braces within a segment"},
                                                        {"/a/{b}x", "braces within a segment"},
                                                        {"/{}", "braces within a segment"},
                                                        {"/a/{b", "braces within a segment"},
                                                        {"/{a}{b}", "no valid name in its braces"},
                                                        {"/{a b}", "percent-encoded"},
                                                        {"/{1}", "no valid name in its braces"},
                                                        {"/{a}/{a}", "twice"}};
  for (const auto& [path, why] : cases) {
    EXPECT_TRUE(reports(with_routes("routes: [{name: a, match: {path: \"" + std::string(path) + "\"}}]\n"),
                        "f:3:34: error: routes[0].match.path: ", why))
        << path;
  }
  EXPECT_TRUE(reports(with_routes("routes: [{name: a, match: {prefix: v1}}]\n"),
                      "f:3:36: error: routes[0].match.prefix: ", "does not begin with /"));
  EXPECT_TRUE(reports(with_routes("routes: [{name: a, match: {prefix: \"/{a}/\"}}]\n"),
                      "f:3:36: error: routes[0].match.prefix: ", "templates in path only"));
}

TEST(match_block, faulty_methods_are_errors_at_their_place) {
  const auto methods = [](const char* list) {
    return with_routes("routes: [{name: a, match: {methods: " + std::string(list) + "}}]\n");
  };
  EXPECT_TRUE(reports(methods("[]"), "f:3:37: error: routes[0].match.methods: is empty"));
  EXPECT_TRUE(reports(methods("7"), "f:3:37: error: routes[0].match.methods: is a single value, expected a list"));
  EXPECT_TRUE(reports(methods("[7]"), "f:3:38: error: routes[0].match.methods[0]: \"7\" is no method"));
  EXPECT_TRUE(reports(methods("[POST, put]"), "f:3:44: error: routes[0].match.methods[1]: \"put\" is not in capitals"));
  EXPECT_TRUE(reports(methods("[POST, \"P T\"]"), "f:3:44: error: routes[0].match.methods[1]: \"P T\" is no method"));
  EXPECT_TRUE(reports(methods("[POST, POST]"), "f:3:44: error: routes[0].match.methods[1]: \"POST\" stands twice"));
  EXPECT_TRUE(reports(methods("[CONNECT]"), "f:3:38: error: routes[0].match.methods[0]: CONNECT"));
}

TEST(match_block, a_host_with_a_port_is_an_error) {
  EXPECT_TRUE(reports(with_routes("routes: [{name: a, match: {host: \"a.b:80\"}}]\n"),
                      "f:3:34: error: routes[0].match.host: \"a.b:80\" has a port"));
}

TEST(match_block, a_faulty_one_shadows_nothing) {
  const auto lines = test::lines_of(
      load_text(with_routes("routes:\n  - {name: a, match: {path: a}}\n  - {name: b, match: {path: /b}}\n"), "f"));
  EXPECT_EQ(lines.size(), 1u);
}

}  // namespace
}  // namespace idem::config
