// Keys, types and what is said about them, on whole files.
#include "config/section.hpp"

#include <gtest/gtest.h>

#include "config/suggest.hpp"
#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using test::is_clean;
using test::reports;
using test::with_block;
using test::with_routes;

const std::string base = "upstream: {url: \"http://127.0.0.1:1\"}\n";

TEST(suggestion, is_the_nearest_word_if_it_is_near) {
  constexpr std::string_view words[] = {"lease", "release", "retention", "password_file"};
  EXPECT_EQ(did_you_mean("leese", words), " (did you mean \"lease\"?)");
  EXPECT_EQ(did_you_mean("Lease", words), " (did you mean \"lease\"?)");
  EXPECT_EQ(did_you_mean("laese", words), " (did you mean \"lease\"?)");
  EXPECT_EQ(did_you_mean("retentoin", words), " (did you mean \"retention\"?)");
  EXPECT_EQ(did_you_mean("password-file", words), " (did you mean \"password_file\"?)");
  EXPECT_EQ(did_you_mean("password", words), " (did you mean \"password_file\"?)");
  EXPECT_EQ(did_you_mean("nothing", words), "");
  EXPECT_EQ(did_you_mean("", words), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'l'), words), "");
}

TEST(keys, an_unknown_one_is_named_with_what_was_meant) {
  EXPECT_TRUE(reports(with_block("leese: 15s"),
                      "f:7:7: error: routes[0].idempotency.leese: unknown key (did you mean \"lease\"?)"));
  EXPECT_TRUE(reports(base + "stoer: {type: memory}\n", "f:2:1: error: stoer: unknown key (did you mean \"store\"?)"));
}

TEST(keys, an_unknown_one_that_is_near_to_nothing_gets_the_list) {
  EXPECT_TRUE(reports(base + "logging: {colour: red}\n",
                      "f:2:11: error: logging.colour: unknown key, expected level, format or access"));
}

TEST(keys, one_given_twice_is_an_error_at_the_second) {
  EXPECT_TRUE(reports(with_block("lease: 15s\n      lease: 16s"),
                      "f:8:7: error: routes[0].idempotency.lease: given twice, the first time on line 7"));
  EXPECT_TRUE(reports(base + "upstream: {}\n", "f:2:1: error: upstream: given twice, the first time on line 1"));
}

TEST(keys, control_characters_in_one_do_not_break_the_line) {
  EXPECT_TRUE(reports(base + "\"a\\nb\": 1\n", "f:2:1: error: a\\x0ab: unknown key"));
}

TEST(values, a_route_that_is_no_map_is_one_fault) {
  const auto lines = test::lines_of(load_text(with_routes("routes: [{name: a, match: {path: /a}}, b, [c]]"), "f"));
  ASSERT_EQ(lines.size(), 2u) << testing::PrintToString(lines);
  EXPECT_TRUE(lines[0].starts_with("f:3:40: error: routes[1]: is a single value, expected a map with name"));
  EXPECT_TRUE(lines[1].starts_with("f:3:43: error: routes[2]: is a list, expected a map with name"));
}

TEST(values, a_map_or_list_in_place_of_a_value_is_an_error) {
  EXPECT_TRUE(reports(with_block("lease: [15s]"),
                      "f:7:14: error: routes[0].idempotency.lease: is a list, expected a duration"));
  EXPECT_TRUE(
      reports(with_block("lease: {}"), "f:7:14: error: routes[0].idempotency.lease: is a map, expected a duration"));
  EXPECT_TRUE(reports(with_block("lease:"), "f:", "routes[0].idempotency.lease: is nothing, expected a duration"));
}

TEST(values, a_value_in_place_of_a_map_or_list_is_an_error) {
  EXPECT_TRUE(reports(base + "server: 1\n", "f:2:9: error: server: is a single value, expected a map with listen"));
  EXPECT_TRUE(reports(base + "server: {listen: \"1.2.3.4:5\"}\n",
                      "f:2:18: error: server.listen: is a single value, expected a list"));
  EXPECT_TRUE(reports(with_routes("routes: {name: a}\n"), "f:3:9: error: routes: is a map, expected a list"));
  EXPECT_TRUE(
      reports(with_routes("routes: [a]\n"), "f:3:10: error: routes[0]: is a single value, expected a map with name"));
}

TEST(values, an_empty_section_is_all_defaults) {
  EXPECT_TRUE(is_clean(base + "server:\nadmin:\ndefaults:\nlogging:\nstore: {type: redis, redis: }\nroutes: [{name: a, "
                              "match: , idempotency: }]\n"));
}

TEST(values, numbers_are_whole_and_within_their_range) {
  const auto server = [](const char* text) { return base + "server: {max_in_flight: " + text + "}\n"; };
  EXPECT_TRUE(load_text(server("1"), "f").ok());
  EXPECT_TRUE(load_text(server("\"20\""), "f").ok());
  for (const char* text : {"0", "1000001", "99999999999999999999"}) {
    EXPECT_TRUE(reports(server(text), "f:2:25: error: server.max_in_flight: ", "out of range, expected 1 to 1000000"))
        << text;
  }
  for (const char* text : {"many", "1.5", "-1", "0x10", "1k", "\"\"", "\" 1\""}) {
    EXPECT_TRUE(reports(server(text), "f:2:25: error: server.max_in_flight: ", "no whole number")) << text;
  }
}

TEST(values, switches_take_true_false_on_and_off) {
  const auto via = [](const char* text) {
    return test::loaded(base + "server: {via: " + text + "}\n").config->server.via;
  };
  EXPECT_TRUE(via("true") && via("on") && via("\"true\""));
  EXPECT_FALSE(via("false") || via("off"));
  EXPECT_TRUE(reports(base + "server: {via: yes}\n", "f:2:15: error: server.via: \"yes\" is neither true nor false"));
}

TEST(values, a_choice_of_off_may_be_written_false_and_other_choices_may_not) {
  EXPECT_EQ(test::loaded(with_block("mode: false")).config->routes[0].idempotency.mode, route_mode::off);
  EXPECT_EQ(test::loaded(base + "server: {proxy_protocol: false}\n").config->server.proxy_protocol,
            proxy_protocol_policy::off);
  EXPECT_TRUE(reports(with_block("mode: true"), "f:7:13: error: routes[0].idempotency.mode: \"true\" is not a choice",
                      "expected enforce, observe or off"));
}

TEST(values, a_wrong_choice_is_answered_with_all_of_them) {
  EXPECT_TRUE(reports(with_block("guarantee: exactly_once"),
                      "f:7:18: error: routes[0].idempotency.guarantee: \"exactly_once\" is not a choice",
                      "expected at_most_once or at_least_once"));
  EXPECT_TRUE(reports(with_block("mode: enforced"), "f:7:13: error: ", "did you mean \"enforce\"?"));
}

TEST(values, long_and_strange_text_is_shown_on_one_short_line) {
  const std::string line =
      test::lines_of(load_text(with_block("mode: \"" + std::string(500, 'x') + "\\n\""), "f")).at(0);
  EXPECT_LT(line.size(), 250u);
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(findings, all_of_a_file_come_in_one_run_and_in_its_order) {
  const auto result = load_text(
      with_routes(
          "routes:\n  - name: a\n    match: {path: /a, methods: 7}\n    idempotency: {leese: 1s, retention: soon}\n"
          "server: {via: maybe}\n"),
      "f");
  EXPECT_FALSE(result.ok());
  ASSERT_EQ(result.findings.size(), 4u);
  EXPECT_EQ(result.findings[0].key_path, "routes[0].match.methods");
  EXPECT_EQ(result.findings[1].key_path, "routes[0].idempotency.leese");
  EXPECT_EQ(result.findings[2].key_path, "routes[0].idempotency.retention");
  EXPECT_EQ(result.findings[3].key_path, "server.via");
}

TEST(findings, a_fault_in_defaults_is_told_once_however_many_routes_have_it) {
  EXPECT_TRUE(reports(
      with_routes("defaults: {retention: 1s}\nroutes: [{name: a, match: {path: /a}}, {name: b, match: {path: /b}}]\n"),
      "f:3:23: error: defaults.retention: 1s is less than the lease"));
}

TEST(findings, have_the_form_that_editors_understand) {
  finding f{finding::severity::error, "a.yaml", 3, 7, "server.via", "is wrong"};
  EXPECT_EQ(f.text(), "a.yaml:3:7: error: server.via: is wrong");
  f.level = finding::severity::warning;
  f.line = 0;
  f.key_path.clear();
  EXPECT_EQ(f.text(), "a.yaml: warning: is wrong");
}

}  // namespace
}  // namespace idem::config
