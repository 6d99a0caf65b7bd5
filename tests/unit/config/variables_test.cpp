#include "config/variables.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "config/tree.hpp"
#include "support/environment_variable.hpp"
#include "unit/config/support.hpp"

namespace idem::config {
namespace {

class variables : public testing::Test {
 protected:
  const idem::test::environment_variable variable{"IDEM_TEST_SET", "value"};
  const idem::test::environment_variable empty_one{"IDEM_TEST_EMPTY", ""};
  const idem::test::environment_variable unset_one{"IDEM_TEST_UNSET"};
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
  variable.set("${IDEM_TEST_UNSET}");
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
  variable.set("7s");
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
  variable.set("hunter2");
  const std::string text = test::with_block("lease: ${IDEM_TEST_SET}\n      mode: ${IDEM_TEST_SET}");
  EXPECT_TRUE(test::reports(text, "f:7:14: error: ", "the value of \"${IDEM_TEST_SET}\" is no duration"));
  for (const std::string& line : test::lines_of(load_text(text, "f"))) {
    EXPECT_EQ(line.find("hunter2"), std::string::npos) << line;
  }
}

/// config/reference.yaml as a flow map, with a variable in place of one of its values, or of each of them.
class reference_with_a_variable {
 public:
  static constexpr std::size_t each = std::string::npos;

  reference_with_a_variable() {
    std::stringstream text;
    text << std::ifstream(std::string(IDEM_SOURCE_DIR) + "/config/reference.yaml").rdbuf();
    report out("reference.yaml");
    root_ = *parse_tree(text.str(), out);
    write(root_, each);
    values = passed_;
  }
  std::string at(std::size_t which) {
    passed_ = 0;
    return write(root_, which);
  }

  std::size_t values = 0;

 private:
  std::string write(const tree_node& node, std::size_t which) {
    std::string out;
    switch (node.type) {
      case tree_node::kind::null: return "~";
      case tree_node::kind::scalar: {
        const bool chosen = which == each || which == passed_;
        ++passed_;
        return "\"" + (chosen ? "${IDEM_TEST_SET}" : node.text) + "\"";
      }
      case tree_node::kind::list:
        for (const tree_node& item : node.items) out += write(item, which) + ", ";
        return "[" + out + "]";
      case tree_node::kind::map:
        for (const tree_entry& entry : node.entries) out += entry.key + ": " + write(entry.value, which) + ", ";
        return "{" + out + "}";
    }
    return out;
  }

  tree_node root_;
  std::size_t passed_ = 0;
};

testing::AssertionResult hides_the_variable(const std::string& text) {
  for (const std::string& line : test::lines_of(load_text(text, "f"))) {
    if (line.find("hunter2") != std::string::npos) return testing::AssertionFailure() << line;
  }
  return testing::AssertionSuccess();
}

TEST_F(variables, of_any_key_are_shown_in_no_message) {
  reference_with_a_variable file;
  for (const char* value : {"hunter2", "/{hunter2}/{hunter2}", "hunter2:8080", "unix:///hunter2", "path:{hunter2}"}) {
    variable.set(value);
    for (std::size_t i = 0; i < file.values; ++i) EXPECT_TRUE(hides_the_variable(file.at(i))) << value << " at " << i;
    EXPECT_TRUE(hides_the_variable(file.at(file.each))) << value;
  }
}

TEST_F(variables, are_named_by_the_rules_between_values) {
  variable.set("hunter2");
  const std::string upstream = "upstream: {url: \"http://app\"}\n";
  for (const std::string& text :
       {upstream + "server: {tls: {certificate: \"/${IDEM_TEST_SET}\", key: \"/${IDEM_TEST_SET}\"}}\n",
        upstream + "server: {listen: [\"${IDEM_TEST_SET}:1\", \"${IDEM_TEST_SET}:1\"]}\n",
        upstream + "server: {listen: [\"unix:///${IDEM_TEST_SET}\"]}\nadmin: {listen: \"unix:///${IDEM_TEST_SET}\"}\n",
        upstream + "store: {type: redis, redis: {password_file: \"/${IDEM_TEST_SET}\"}}\n",
        upstream + "routes: [{name: \"${IDEM_TEST_SET}\"}, {name: \"${IDEM_TEST_SET}\"}]\n",
        test::with_block("key: {from: [\"path:{${IDEM_TEST_SET}}\"]}"),
        test::with_block("fingerprint: {body: json, exclude: [\"${IDEM_TEST_SET}\"]}"),
        test::with_block("jwt: {jwks_file: \"/${IDEM_TEST_SET}\"}"),
        test::with_block("signature: {scheme: github, secret_file: \"/${IDEM_TEST_SET}\"}")}) {
    EXPECT_TRUE(hides_the_variable(text)) << text;
    std::string all;
    for (const std::string& line : test::lines_of(load_text(text, "f"))) all += line + "\n";
    EXPECT_NE(all.find("the value of \""), std::string::npos) << all;
  }
}

TEST_F(variables, names_of_keys_are_not_expanded) {
  EXPECT_TRUE(test::reports("\"${IDEM_TEST_SET}\": 1\nupstream: {url: \"http://127.0.0.1:1\"}\n",
                            "f:1:1: error: ${IDEM_TEST_SET}: unknown key"));
}

}  // namespace
}  // namespace idem::config
