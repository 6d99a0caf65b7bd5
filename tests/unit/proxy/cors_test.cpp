// The lines of CORS that an answer of the proxy's own gets, by the request that it answers.
#include "proxy/cors.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace idem::proxy {
namespace {

const std::string shop = "https://shop.example", admin = "https://admin.example:8443";
const std::string exposed = "Access-Control-Expose-Headers: Retry-After, Idempotency-Status\r\n";
const std::string varies = "Vary: Origin\r\n";

http::request_head request_from(std::vector<http::field> fields) {
  http::request_head head;
  head.fields = std::move(fields);
  return head;
}

http::request_head from(std::string_view origin) { return request_from({{"Host", "a"}, {"Origin", origin}}); }

std::string allowing(const std::string& origin, const std::string& more = "") {
  return "Access-Control-Allow-Origin: " + origin + "\r\n" + exposed + more + varies;
}

TEST(cors_lines, are_none_without_origins) {
  EXPECT_EQ(cors_lines({}).answering(from(shop)), "");
  EXPECT_EQ(cors_lines({{}, true}).answering(from(shop)), "");
}

TEST(cors_lines, allow_the_origin_of_the_list_that_the_request_comes_from) {
  const cors_lines lines({{shop, admin}, false});
  EXPECT_EQ(lines.answering(from(shop)), allowing(shop));
  EXPECT_EQ(lines.answering(from(admin)), allowing(admin));
  EXPECT_EQ(lines.answering(request_from({{"oRIGIN", shop}})), allowing(shop)) << "names of fields have no case";
}

TEST(cors_lines, only_say_that_the_answer_varies_for_any_other_origin_or_none) {
  const cors_lines lines({{shop}, true});
  for (const std::string_view other : {"", "null", "*", "https://shop.example/", "https://Shop.example",
                                       "http://shop.example", "https://shop.example:443", "https://shop.exampl",
                                       "https://shop.example.evil", "https://shop.example https://shop.example"}) {
    EXPECT_EQ(lines.answering(from(other)), varies) << other;
  }
  EXPECT_EQ(lines.answering(request_from({{"Host", "a"}})), varies);
}

TEST(cors_lines, allow_nobody_where_the_request_has_two_origins) {
  const cors_lines lines({{shop, admin}, false});
  EXPECT_EQ(lines.answering(request_from({{"Origin", shop}, {"Origin", shop}})), varies);
  EXPECT_EQ(lines.answering(request_from({{"Origin", shop}, {"Origin", admin}})), varies);
  EXPECT_EQ(lines.answering(request_from({{"Origin", ""}, {"origin", shop}})), varies);
}

TEST(cors_lines, allow_credentials_with_the_origin_only) {
  const cors_lines lines({{shop}, true});
  EXPECT_EQ(lines.answering(from(shop)), allowing(shop, "Access-Control-Allow-Credentials: true\r\n"));
  EXPECT_EQ(lines.answering(from(admin)), varies);
}

TEST(cors_lines, are_the_same_for_every_request_where_every_origin_may_read) {
  const cors_lines lines({{"*"}, false});
  const auto all = "Access-Control-Allow-Origin: *\r\n" + exposed;
  EXPECT_EQ(lines.answering(from(shop)), all);
  EXPECT_EQ(lines.answering(from("null")), all);
  EXPECT_EQ(lines.answering(request_from({})), all);
  EXPECT_EQ(lines.answering(request_from({{"Origin", shop}, {"Origin", shop}})), all);
}

}  // namespace
}  // namespace idem::proxy
