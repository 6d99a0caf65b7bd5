// What the file is made of: YAML, its positions, and what is refused before any key is looked at.
#include "config/tree.hpp"

#include <gtest/gtest.h>

#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using test::reports;

const std::string base = "upstream: {url: \"http://127.0.0.1:1\"}\n";

TEST(tree, keys_and_values_know_where_they_stand) {
  report out("f");
  const auto root = parse_tree("# comment\na: 1\nb:\n  - c: {d: \"e\"}\n", out);
  ASSERT_TRUE(root);
  ASSERT_EQ(root->entries.size(), 2u);
  EXPECT_EQ(root->entries[0].line, 2);
  EXPECT_EQ(root->entries[0].value.column, 4);
  const tree_entry& c = root->entries[1].value.items.at(0).entries.at(0);
  EXPECT_EQ(c.key, "c");
  EXPECT_EQ(std::pair(c.line, c.column), std::pair(4, 5));
  EXPECT_EQ(std::pair(c.value.entries[0].value.line, c.value.entries[0].value.column), std::pair(4, 12));
}

TEST(tree, a_key_without_a_value_is_reported_where_it_stands) {
  EXPECT_TRUE(reports(base + "server:\n  via:\n\n  # more\n  threads: 2\n", "f:3:3: error: server.via: is nothing"));
  EXPECT_TRUE(reports(base + "server:\n  via: ~\n", "f:3:8: error: server.via: is nothing"));
  EXPECT_TRUE(reports("upstream:\n\nlogging: {}\n", "f:1:1: error: upstream.url: is missing"));
}

TEST(tree, repeated_keys_are_all_kept) {
  report out("f");
  const auto root = parse_tree("a: 1\na: 2\n", out);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->entries.size(), 2u);
}

TEST(tree, a_byte_order_mark_is_skipped) { EXPECT_TRUE(load_text("\xef\xbb\xbf" + base, "f").ok()); }

TEST(tree, carriage_returns_at_line_ends_do_not_count) {
  EXPECT_TRUE(load_text("upstream:\r\n  url: http://127.0.0.1:1\r\n", "f").ok());
}

TEST(tree, an_empty_file_is_an_error) {
  EXPECT_TRUE(reports("", "f:1:1: error: ", "empty"));
  EXPECT_TRUE(reports("# nothing here\n", "f:1:1: error: ", "empty"));
}

TEST(tree, a_file_that_is_no_map_is_an_error) {
  EXPECT_TRUE(reports("just text\n", "f:1:1: error: is a single value, expected a map with server"));
  EXPECT_TRUE(reports("- a\n", "f:1:1: error: is a list, expected a map with server"));
}

TEST(tree, broken_yaml_is_an_error_at_its_position) {
  EXPECT_TRUE(reports(base + "routes: [\n", "f:3:1: error: not valid YAML: "));
  EXPECT_TRUE(reports(base + "routes: [}\n", "f:2:10: error: not valid YAML: "));
  EXPECT_TRUE(reports(base + "server:\n\tvia: on\n", "f:3:", "a line begins with a tab"));
}

TEST(tree, an_unquoted_brace_in_a_list_is_explained) {
  EXPECT_TRUE(reports(test::with_block("scope: [path:{id}]"), "f:7:20: error: not valid YAML: ", "in quotes"));
}

TEST(tree, a_second_document_is_refused) {
  EXPECT_TRUE(reports(base + "---\nserver: {}\n", "f:3:1: error: a second YAML document"));
}

TEST(tree, anchors_and_aliases_are_refused) {
  EXPECT_TRUE(reports(base + "server: &s {via: on}\n", "f:2:9: error: anchors and aliases"));
  EXPECT_TRUE(reports(base + "server: &s {}\nadmin: *s\n", "f:3:8: error: anchors and aliases"));
  EXPECT_TRUE(reports(base + "admin: *s\n", "f:2:", "not valid YAML"));
}

TEST(tree, tags_of_ones_own_are_refused_and_the_usual_ones_are_not) {
  EXPECT_TRUE(reports(base + "server: {via: !x on}\n", "f:2:15: error: the tag \"!x\""));
  EXPECT_TRUE(load_text(base + "server: {threads: !!int 2, via: !!str on}\n", "f").ok());
}

TEST(tree, a_key_that_is_no_word_is_refused) {
  EXPECT_TRUE(reports(base + "[a]: b\n", "f:2:1: error: a key must be a word"));
  EXPECT_TRUE(reports(base + "? {a: b}\n: c\n", "f:2:3: error: a key must be a word"));
}

TEST(tree, bytes_that_are_no_text_are_an_error_at_their_position) {
  EXPECT_TRUE(reports(base + "a: \xff\n", "f:2:4: error: a byte that is no text"));
  EXPECT_TRUE(reports(base + "a: \xc0\xaf\n", "f:2:4: error: "));
  EXPECT_TRUE(reports(base + "a: \xed\xa0\x80\n", "f:2:4: error: "));
  EXPECT_TRUE(reports(base + std::string("a: \0\n", 5), "f:2:4: error: "));
  EXPECT_TRUE(reports(base + "a: \x04 # the end that YAML readers know\n", "f:2:4: error: "));
  EXPECT_TRUE(reports(base + "# äöü€😀\na: 1\n", "f:3:1: error: a: unknown key"));
}

TEST(tree, deep_nesting_is_an_error_and_no_crash) {
  EXPECT_TRUE(reports("a: " + std::string(100'000, '['), "f:1:", "nested too deeply"));
  std::string maps;
  for (int i = 0; i < 100'000; ++i) maps += "{a: ";
  EXPECT_FALSE(load_text(maps, "f").ok());
}

}  // namespace
}  // namespace idem::config
