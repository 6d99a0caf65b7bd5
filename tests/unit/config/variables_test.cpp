#include "config/variables.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "unit/config/support.hpp"

namespace idem::config {
namespace {

class variables : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("IDEM_TEST_SET", "value", 1);
    ::setenv("IDEM_TEST_EMPTY", "", 1);
    ::unsetenv("IDEM_TEST_UNSET");
  }
  void TearDown() override {
    ::unsetenv("IDEM_TEST_SET");
    ::unsetenv("IDEM_TEST_EMPTY");
  }
};

TEST_F(variables, are_replaced_wherever_they_stand) {
  EXPECT_EQ(*expand_variables("${IDEM_TEST_SET}").value, "value");
  EXPECT_EQ(*expand_variables("a${IDEM_TEST_SET}b${IDEM_TEST_SET}").value, "avaluebvalue");
  EXPECT_EQ(*expand_variables("${IDEM_TEST_EMPTY}").value, "");
}

TEST_F(variables, the_default_stands_in_for_an_unset_or_empty_one) {
  EXPECT_EQ(*expand_variables("${IDEM_TEST_UNSET:-redis://h:1/0}").value, "redis://h:1/0");
  EXPECT_EQ(*expand_variables("${IDEM_TEST_EMPTY:-other}").value, "other");
  EXPECT_EQ(*expand_variables("${IDEM_TEST_SET:-other}").value, "value");
  EXPECT_EQ(*expand_variables("${IDEM_TEST_UNSET:-}").value, "");
}

TEST_F(variables, other_dollars_and_braces_stay) {
  EXPECT_EQ(*expand_variables("$HOME {a} $5 $").value, "$HOME {a} $5 $");
}

TEST_F(variables, a_value_is_not_expanded_again) {
  ::setenv("IDEM_TEST_SET", "${IDEM_TEST_UNSET}", 1);
  EXPECT_EQ(*expand_variables("${IDEM_TEST_SET}").value, "${IDEM_TEST_UNSET}");
}

TEST_F(variables, an_unset_one_without_default_is_named) {
  const auto read = expand_variables("${IDEM_TEST_UNSET}");
  EXPECT_FALSE(read);
  EXPECT_NE(read.why.find("IDEM_TEST_UNSET"), std::string::npos);
}

TEST_F(variables, broken_forms_are_refused) {
  for (const char* text : {"${", "${IDEM_TEST_SET", "${}", "${:-x}", "${1A}", "${A B}", "${A:-${B}}"}) {
    EXPECT_FALSE(expand_variables(text)) << text;
  }
}

TEST_F(variables, stand_for_numbers_durations_and_choices_too) {
  ::setenv("IDEM_TEST_SET", "7s", 1);
  const auto result =
      test::loaded(test::with_block("lease: ${IDEM_TEST_SET}\n      mode: \"${IDEM_TEST_UNSET:-observe}\""));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.config->routes[0].idempotency.lease, 7s);
  EXPECT_EQ(result.config->routes[0].idempotency.mode, route_mode::observe);
}

TEST_F(variables, an_unset_one_is_an_error_at_its_value) {
  EXPECT_TRUE(test::reports(test::with_block("lease: ${IDEM_TEST_UNSET}"),
                            "f:7:14: error: routes[0].idempotency.lease: ", "IDEM_TEST_UNSET, which is not set"));
}

TEST_F(variables, the_value_of_one_is_never_shown) {
  ::setenv("IDEM_TEST_SET", "hunter2", 1);
  const std::string text = test::with_block("lease: ${IDEM_TEST_SET}\n      mode: ${IDEM_TEST_SET}");
  EXPECT_TRUE(test::reports(text, "f:7:14: error: ", "the value of \"${IDEM_TEST_SET}\" is no duration"));
  for (const std::string& line : test::lines_of(load_text(text, "f"))) {
    EXPECT_EQ(line.find("hunter2"), std::string::npos) << line;
  }
}

TEST_F(variables, names_of_keys_are_not_expanded) {
  EXPECT_TRUE(test::reports("\"${IDEM_TEST_SET}\": 1\nupstream: {url: \"http://127.0.0.1:1\"}\n",
                            "f:1:1: error: ${IDEM_TEST_SET}: unknown key"));
}

}  // namespace
}  // namespace idem::config
