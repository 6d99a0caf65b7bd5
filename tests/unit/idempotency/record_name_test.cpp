#include <gtest/gtest.h>

#include <set>

#include "idem/idempotency/identity.hpp"

namespace idem::idempotency {
namespace {

using parts = name_parts;

// What stores of running systems hold: another name for the same key would execute it again.
TEST(record_name, has_the_agreed_bytes) {
  const parts key = {{"header:Idempotency-Key", "abc"}};
  EXPECT_EQ(record_name("idem:", "charges",
                        {{"credential:authorization", "Bearer t"}, {"credential:x-api-key", std::nullopt}}, key),
            "idem:{F5fUMk0l6A7ySi0nCUNmcf9PwGU3V3RymT_1tN7WhA0}");
  EXPECT_EQ(record_name("idem:", "charges", {}, key), "idem:{TYu3QXFtNS0AMpcX2tQ79GtNs3VPa_DwnDlCfxt6EnI}");
  EXPECT_EQ(record_name("", "", {}, {}), "{FBhb6JCuYuSK6DuL1sWc4e7A-yhPf2nbah3w5qQaFTg}");
}

TEST(record_name, differs_wherever_namespace_scope_or_key_do) {
  const std::optional<std::string> absent;
  const std::set<std::string> names = {
      record_name("", "n", {{"a", "b"}}, {{"k", "v"}}),
      record_name("", "m", {{"a", "b"}}, {{"k", "v"}}),
      record_name("", "n", {{"a", absent}}, {{"k", "v"}}),
      record_name("", "n", {{"a", ""}}, {{"k", "v"}}),
      record_name("", "n", {}, {{"k", "v"}}),
      record_name("", "n", {{"a", "b"}}, {{"k", "w"}}),
      record_name("", "n", {{"a", "b"}}, {{"l", "v"}}),
      record_name("", "n", {{"a", "b"}, {"k", "v"}}, {}),
      record_name("", "n", {}, {{"a", "b"}, {"k", "v"}}),
      record_name("", "n", {{"ab", ""}}, {{"k", "v"}}),
      record_name("", "n", {{"a", "bk"}}, {{"", "v"}}),
      record_name("", "n", {{"a", "b"}}, {{"k", "v"}, {"k", "v"}}),
      record_name("", "na", {{"", "b"}}, {{"k", "v"}}),
  };
  EXPECT_EQ(names.size(), 13u);
}

TEST(record_name, the_hash_is_read_out_of_it) {
  identity id;
  EXPECT_EQ(id.hash(), "");
  id.name = record_name("idem:{x}", "charges", {}, {{"header:Idempotency-Key", "abc"}});
  EXPECT_EQ(id.hash(), "TYu3QXFtNS0AMpcX2tQ79GtNs3VPa_DwnDlCfxt6EnI");
}

}  // namespace
}  // namespace idem::idempotency
