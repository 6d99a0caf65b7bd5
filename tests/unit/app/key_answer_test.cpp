// The answer of `key resolve` is what every retry gets from then on, so what was meant and cannot be had is refused.
#include "app/key_answer.hpp"

#include <gtest/gtest.h>

#include "app/key_command.hpp"
#include "support/temporary_folder.hpp"

namespace idem::app {
namespace {

std::string fault_of(unsigned status, const std::optional<std::string>& body) {
  key_request q;
  q.status = status;
  q.body_file = body;
  key_answer answer;
  return make_answer(q, answer);
}

TEST(an_operators_answer, has_the_body_of_its_file) {
  const test::temporary_folder folder;
  key_request q;
  q.status = 201;
  q.body_file = folder.write("body", std::string(10'000, 'x') + "\n");
  key_answer answer;
  EXPECT_EQ(make_answer(q, answer), "");
  EXPECT_EQ(answer.body, std::string(10'000, 'x') + "\n");
  EXPECT_EQ(fault_of(201, folder.write("empty", "")), "") << "an empty answer can be meant";
}

TEST(an_operators_answer, is_refused_when_its_file_cannot_be_read) {
  const test::temporary_folder folder;
  EXPECT_EQ(fault_of(201, folder.path().string()), "--body: the file cannot be read") << "a folder";
  EXPECT_EQ(fault_of(201, (folder.path() / "none").string()), "--body: the file cannot be read");
  EXPECT_EQ(fault_of(201, ""), "--body: the file cannot be read") << "of a variable of the shell that is not set";
}

TEST(an_operators_answer, is_refused_when_its_body_is_larger_than_any_that_is_stored) {
  EXPECT_EQ(fault_of(201, "/dev/zero"), "--body: the file is larger than 16MiB");
}

TEST(an_operators_answer, is_refused_with_a_body_that_its_status_does_not_have) {
  const test::temporary_folder folder;
  const auto file = folder.write("body", "x");
  EXPECT_EQ(fault_of(204, file), "--body: an answer of this status has none");
  EXPECT_EQ(fault_of(304, file), "--body: an answer of this status has none");
}

}  // namespace
}  // namespace idem::app
