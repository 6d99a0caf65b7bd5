// What an operator names on the command line is the record that the proxy uses, or a complaint: who asks for a name
// that no request can have must not hear that the key was never seen.
#include "app/key_name.hpp"

#include <gtest/gtest.h>

#include "app/key_command.hpp"
#include "idem/config/load.hpp"

namespace idem::app {
namespace {

/// The name under a route with this block, or the complaint.
std::string named(const std::string& block, const key_request& q) {
  const auto result = config::load_text(
      "upstream: {url: \"http://127.0.0.1:3000\"}\n"
      "routes: [{name: r, match: {path: \"/{tenant}\"}, idempotency: {" +
          block + "}}]\n",
      "f");
  EXPECT_TRUE(result.ok());
  if (!result.ok()) return result.findings.at(0).text();
  std::string why;
  const auto name = record_name_of(*result.config, result.config->routes.at(0), q, why);
  return name.empty() ? why : name;
}

key_request by_key(std::vector<std::string> scope) {
  key_request q;
  q.key = "k";
  q.scope = std::move(scope);
  return q;
}

TEST(a_named_record, is_taken_by_its_hash) {
  key_request q;
  q.hash = "-K-YGt4Am3Wns3JSigvYwHmCVxRUps_NK3HLlixy9BE";
  EXPECT_EQ(named("", q), "idem:{" + q.hash + "}");
}

TEST(a_named_record, is_not_taken_by_what_cannot_be_a_hash) {
  key_request q;
  for (const char* text : {"-K-YGt4Am3Wns3JSigvY", "{-K-YGt4Am3Wns3JSigvYwHmCVxRUps_NK3HLlixy9BE}",
                           "-K-YGt4Am3Wns3JSigvYwHmCVxRUps_NK3HLlixy9B*"}) {
    q.hash = text;
    EXPECT_TRUE(named("", q).starts_with("--hash: expected key_hash of the log")) << text;
  }
}

TEST(a_named_record, takes_values_for_the_parts_of_the_scope) {
  const auto nobody = named("", by_key({}));
  const auto alice = named("", by_key({"Authorization=Bearer alice"}));
  EXPECT_TRUE(alice.starts_with("idem:{")) << alice;
  EXPECT_NE(alice, nobody);
  EXPECT_EQ(named("", by_key({"header:authorization=Bearer alice"})), alice);
  const std::string all = "scope: [\"path:{tenant}\", \"header:X-A\", \"cookie:sid\"]";
  const auto full = named(all, by_key({"path:{tenant}=7", "x-a=1", "cookie:sid=2"}));
  EXPECT_TRUE(full.starts_with("idem:{")) << full;
  EXPECT_EQ(named(all, by_key({"cookie:sid=2", "path:tenant=7", "header:X-A=1"})), full);
}

TEST(a_named_record, takes_no_value_that_has_no_say_in_it) {
  EXPECT_EQ(named("", by_key({"Autorization=Bearer alice"})),
            "--scope: the route's scope has no such part, expected values of: credential");
  const std::string path = "scope: [\"path:{tenant}\", \"header:X-A\"]";
  for (const char* given : {"tenant=7", "path:{account}=7", "cookie:X-A=1", "Authorization=a"}) {
    EXPECT_EQ(named(path, by_key({"path:{tenant}=7", given})),
              "--scope: the route's scope has no such part, expected values of: path:{tenant}, header:X-A")
        << given;
  }
}

TEST(a_named_record, lacks_no_part_that_every_request_has) {
  EXPECT_EQ(named("scope: [\"path:{tenant}\"]", by_key({})),
            "--scope: the route's scope has path:{tenant}, expected --scope 'path:{tenant}=VALUE'");
}

}  // namespace
}  // namespace idem::app
