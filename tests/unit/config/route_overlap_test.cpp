#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

route_match match_of(const std::string& block) {
  return test::loaded(test::with_routes("routes: [{name: a, match: {" + block + "}}]\n")).config->routes.at(0).match;
}

bool takes(const route_match& match, const request_example& e) {
  path_captures captures;
  return match.matches(e.method, e.host, e.path, captures);
}

/// `method host` of each example; both have to take it.
std::vector<std::string> common(const std::string& a, const std::string& b) {
  const auto one = match_of(a), other = match_of(b);
  std::vector<std::string> out;
  for (const auto& e : common_requests(one, other)) {
    EXPECT_TRUE(takes(one, e) && takes(other, e)) << a << " | " << b << " | " << e.path;
    out.push_back(std::string(e.method) + " " + e.host);
  }
  EXPECT_EQ(common_requests(other, one).size(), out.size()) << a << " | " << b;
  return out;
}

TEST(common_requests, have_an_example_where_paths_overlap) {
  const std::pair<const char*, const char*> overlapping[] = {
      {"", ""},
      {"", "path: /a"},
      {"", "prefix: /a"},
      {"", "path: \"/{x}/a\""},
      {"path: /a", "path: /a"},
      {"path: /a/b", "prefix: /a"},
      {"path: /a", "prefix: /a"},
      {"path: /a/b", "path: \"/{x}/b\""},
      {"prefix: /a", "prefix: /a/b"},
      {"prefix: /a/", "path: \"/{x}/b\""},
      {"prefix: /a", "path: \"/{x}/b\""},
      {"prefix: /a/b/c", "path: \"/{x}/b/{y}\""},
      {"prefix: /", "path: \"/{x}\""},
      {"path: \"/{x}/b\"", "path: \"/a/{y}\""},
      {"path: \"/{x}/{y}\"", "path: \"/{z}/{w}\""},
      {"path: \"/{x}/\"", "prefix: /a/"},
  };
  for (const auto& [a, b] : overlapping) EXPECT_THAT(common(a, b), ElementsAre("POST ")) << a << " | " << b;
}

TEST(common_requests, are_none_where_paths_do_not_overlap) {
  const std::pair<const char*, const char*> apart[] = {
      {"path: /a", "path: /b"},
      {"path: /a", "path: /a/"},
      {"path: /a", "prefix: /a/"},
      {"path: /a", "path: \"/{x}/b\""},
      {"path: /a/", "path: \"/a/{x}\""},
      {"prefix: /a/", "prefix: /b"},
      {"prefix: /a/b/", "path: \"/{x}/b\""},
      {"prefix: /a/c", "path: \"/{x}/b\""},
      {"prefix: //", "path: \"/{x}/b\""},
      {"path: \"/{x}\"", "path: \"/{x}/{y}\""},
      {"path: \"/{x}/b\"", "path: \"/{x}/c\""},
  };
  for (const auto& [a, b] : apart) EXPECT_THAT(common(a, b), IsEmpty()) << a << " | " << b;
}

TEST(common_requests, have_an_example_for_each_method_of_both) {
  EXPECT_THAT(common("methods: [POST, PUT, PATCH]", "methods: [PATCH, GET, POST]"), ElementsAre("POST ", "PATCH "));
  EXPECT_THAT(common("methods: [POST]", "methods: [GET]"), IsEmpty());
}

TEST(common_requests, go_to_the_host_that_both_are_for) {
  EXPECT_THAT(common("host: h", ""), ElementsAre("POST h"));
  EXPECT_THAT(common("host: h", "host: H"), ElementsAre("POST h"));
  EXPECT_THAT(common("host: h", "host: g"), IsEmpty());
}

/// Whether `third` takes one of the examples of what `a` and `b` both take, of which there are some.
bool takes_example(const std::string& third, const std::string& a, const std::string& b) {
  const auto one = match_of(a), other = match_of(b), asked = match_of(third);
  const auto examples = common_requests(one, other);
  EXPECT_FALSE(examples.empty()) << a << " | " << b;
  return std::any_of(examples.begin(), examples.end(), [&](const auto& e) { return takes(asked, e); });
}

TEST(common_requests, are_not_for_a_third_route_that_takes_only_a_part_of_them) {
  for (const char* third : {"host: h", "path: /a", "prefix: /a", "methods: [PUT]", "path: /a/b1", "path: \"/{x}/{y}\"",
                            "path: \"/a/{x}//{y}\"", "path: \"/{x}/\""}) {
    EXPECT_FALSE(takes_example(third, "", "prefix: /")) << third;
    EXPECT_FALSE(takes_example(third, "prefix: /", "prefix: /")) << third;
  }
  for (const char* third : {"path: /a/b", "path: /a/b1", "prefix: /a/b1", "path: \"/{x}/b\""}) {
    EXPECT_FALSE(takes_example(third, "prefix: /a/b", "path: \"/{x}/{y}\"")) << third;
  }
  const std::string options = "methods: [OPTIONS]";
  EXPECT_FALSE(takes_example("prefix: /, " + options, options, options)) << "OPTIONS * has no path";
}

TEST(common_requests, are_for_a_third_route_that_takes_all_of_them) {
  for (const char* third : {"", "prefix: /a", "prefix: /a/b", "path: \"/a/{y}\"", "path: \"/{x}/{y}\""}) {
    EXPECT_TRUE(takes_example(third, "prefix: /a/b", "path: \"/{x}/{y}\"")) << third;
  }
  EXPECT_TRUE(takes_example("prefix: /", "", "prefix: /a"));
}

}  // namespace
}  // namespace idem::config
