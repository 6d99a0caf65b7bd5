// Presets, conditions on answers, signatures, DELETEs, and what `check --show` makes of them.
#include <gtest/gtest.h>

#include <fstream>

#include "config/presets.hpp"
#include "idem/config/show.hpp"
#include "support/temporary_folder.hpp"
#include "unit/config/support.hpp"

namespace idem::config {
namespace {

using test::is_clean;
using test::reports;
using test::with_block;

idempotency_config block(std::string_view text) {
  return test::loaded(with_block(text)).config->routes.at(0).idempotency;
}

TEST(presets, are_read_without_an_error_and_outlast_their_senders) {
  for (const preset& p : presets()) {
    const auto c = block("preset: " + std::string(p.name));
    EXPECT_EQ(c.preset, p.name);
    EXPECT_GE(c.retention, p.tries) << p.name;
    EXPECT_GE(c.hold, p.tries) << p.name;
    EXPECT_TRUE(p.waits == 0ms || c.in_flight.wait < p.waits) << p.name;
    EXPECT_TRUE(c.success.given()) << p.name;
    EXPECT_EQ(c.fingerprint.body, body_mode::none) << p.name;
    EXPECT_EQ(c.signature.scheme, p.scheme) << p.name;
    EXPECT_FALSE(c.signature.enabled()) << p.name;
    EXPECT_FALSE(c.success.statuses.contains(400) || c.success.statuses.contains(401)) << p.name;
  }
}

TEST(presets, have_the_keys_and_answers_of_their_senders) {
  const auto wechat = block("preset: wechat_v2");
  ASSERT_EQ(wechat.key.from.at(0).size(), 2u);
  EXPECT_EQ(wechat.key.from[0][1].text, "xml:/xml/transaction_id");
  EXPECT_EQ(wechat.success.body.type, body_condition::kind::xml);
  EXPECT_EQ(wechat.success.body.path, "/xml/return_code");
  EXPECT_EQ(wechat.success.body.expected, "SUCCESS");
  const auto alipay = block("preset: alipay");
  EXPECT_EQ(alipay.key.from.at(0).at(0).text, "form:notify_id");
  EXPECT_EQ(alipay.success.body.expected, "success");
  EXPECT_EQ(block("preset: twilio").key.from.size(), 3u);
  EXPECT_EQ(block("preset: wechat_v3").success.statuses.codes, (std::set<unsigned>{200, 204}));
}

TEST(a_preset, stands_over_defaults_and_under_the_keys_beside_it) {
  const auto config =
      test::loaded(test::with_routes("defaults: {retention: 10d, guarantee: at_most_once}\n"
                                     "routes:\n  - name: a\n    match: {path: /a}\n"
                                     "    idempotency: {retention: 5d, preset: stripe}\n"));
  const auto& c = config.config->routes.at(0).idempotency;
  EXPECT_EQ(c.retention, 120h);
  EXPECT_EQ(c.hold, 120h);
  EXPECT_EQ(c.guarantee, guarantee::at_least_once);
}

TEST(a_preset, that_does_not_exist_is_an_error_with_a_suggestion) {
  EXPECT_TRUE(reports(with_block("preset: strpe"),
                      "f:7:15: error: routes[0].idempotency.preset: \"strpe\" is no preset",
                      "did you mean \"stripe\""));
}

TEST(a_preset, is_refused_where_the_record_ends_before_the_sender_does) {
  EXPECT_TRUE(reports(with_block("{preset: stripe, retention: 24h}"), "f:7:35: error: routes[0].idempotency.retention",
                      "stripe goes on trying (3d)"));
  EXPECT_TRUE(reports(with_block("{preset: alipay, hold: 24h}"), "f:7:30: error: routes[0].idempotency.hold",
                      "alipay goes on trying (1d1h)"));
  EXPECT_TRUE(reports(with_block("{preset: slack, in_flight: {wait: 3s}}"), "f:7:41: warning: ", "it will have gone"));
}

TEST(answer_success, takes_a_condition_on_the_body) {
  const auto c = block("answer: {success: {body: \"json:/a~1b/code == OK == 1\"}}");
  EXPECT_TRUE(c.success.statuses.contains(204));
  EXPECT_EQ(c.success.body.path, "/a~1b/code");
  EXPECT_EQ(c.success.body.expected, "OK == 1");
  EXPECT_TRUE(
      reports(with_block("answer: {success: {body: \"json:/code = 1\"}}"), "f:7:32: error: ", "is no condition"));
  EXPECT_TRUE(
      reports(with_block("answer: {success: {body: \"form:code == 1\"}}"), "f:7:32: error: ", "is no condition"));
  EXPECT_TRUE(reports(with_block("answer: {success: {body_equals: a, body: \"json:/a == 1\"}}"),
                      "f:7:48: error: ", "beside body_equals"));
  EXPECT_TRUE(reports(with_block("answer: {success: {statuses: [2xx, 403]}}"), "f:7:42: error: ", "401 and 403"));
}

TEST(answer_success, takes_no_condition_that_no_answer_satisfies) {
  for (const char* condition :
       {R"(json:/code == \"OK\")", "json:/code == 'OK'", R"(xml:/a == \"OK\")", "json:/e == null"}) {
    EXPECT_TRUE(reports(with_block("answer: {success: {body: \"" + std::string(condition) + "\"}}"),
                        "f:7:32: error: ", "without quotes and not null"))
        << condition;
  }
  const auto spaced = block("answer: {success: {body: \"json:/code  ==  OK \"}}").success.body;
  EXPECT_EQ(spaced.path, "/code");
  EXPECT_EQ(spaced.expected, "OK");
  EXPECT_EQ(block("answer: {success: {body: \"xml:/a == null\"}}").success.body.expected, "null");
}

TEST(answer_success, forbids_what_would_swallow_an_event) {
  EXPECT_TRUE(
      reports(with_block("{preset: github, in_flight: {respond: accepted}}"), "f:7:45: error: ", "a 202 would tell"));
  EXPECT_TRUE(
      reports(with_block("{preset: github, statuses: {final: [401]}}"), "f:4:5: error: ", "401 is never stored"));
}

TEST(a_signature, needs_scheme_and_secret) {
  const idem::test::temporary_folder folder;
  const std::string file = folder.write("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
  const auto standard = block("{preset: standard_webhooks, signature: {secret_file: " + file + "}}");
  EXPECT_TRUE(standard.signature.enabled());
  EXPECT_EQ(standard.signature.secret.size(), 24u);
  EXPECT_EQ(block("{preset: stripe, signature: {secret_file: " + file + "}}").signature.secret.substr(0, 6), "whsec_");
  EXPECT_TRUE(
      reports(with_block("signature: {secret_file: " + file + "}"), "f:7:32: error: ", "has no scheme beside it"));
  EXPECT_TRUE(reports(with_block("signature: {scheme: github}"), "f:7:27: error: ", "has no secret_file beside it"));
  EXPECT_TRUE(reports(with_block("signature: {scheme: hub}"), "f:7:27: error: ", "is no scheme"));
  const std::string bad = folder.write("bad", "whsec_***\n");
  EXPECT_TRUE(reports(with_block("signature: {scheme: standard_webhooks, secret_file: " + bad + "}"),
                      "f:7:59: error: ", "holds no secret of Standard Webhooks"));
  EXPECT_TRUE(
      reports(with_block("signature: {scheme: github, secret_file: /nowhere}"), "f:7:48: error: ", "cannot be read"));
}

TEST(a_signature, that_is_not_asked_for_is_a_warning) {
  const idem::test::temporary_folder folder;
  const auto signature = "signature: {scheme: github, secret_file: " + folder.write("secret", "hush\n") + "}";
  for (const std::string mode : {"observe", "off"}) {
    EXPECT_TRUE(reports(with_block(signature + "\n      mode: " + mode),
                        "f:7:48: warning: routes[0].idempotency.signature.secret_file: what is not signed reaches",
                        "`mode: " + mode + "`"));
  }
  EXPECT_TRUE(is_clean(with_block(signature)));
}

/// `defaults` and the block of route `a` under them: `text` begins on line 4, column 53.
std::string under(const std::string& defaults, const std::string& text) {
  return test::with_routes("defaults: {" + defaults + "}\nroutes: [{name: a, match: {path: /a}, idempotency: {" + text +
                           "}}]\n");
}

signature_config signature_under(const std::string& defaults, const std::string& text) {
  const auto result = test::loaded(under(defaults, text));
  return result.config ? result.config->routes.at(0).idempotency.signature : signature_config{};
}

class signatures_of_defaults : public testing::Test {
 protected:
  const idem::test::temporary_folder folder;
  const std::string file = folder.write("first", "first\n"), second = folder.write("second", "second\n");
  const std::string github = "signature: {scheme: github, secret_file: " + file + ", tolerance: 1m}";
};

TEST_F(signatures_of_defaults, hold_for_a_route_that_says_nothing_and_for_a_preset_that_signs_so) {
  for (const char* block : {"", "preset: github", "preset: github, signature: {tolerance: 2m}"}) {
    const auto s = signature_under(github, block);
    EXPECT_EQ(s.scheme, signature_scheme::github) << block;
    EXPECT_EQ(s.secret, "first") << block;
  }
  const auto s = signature_under("signature: {secret_file: " + file + "}", "preset: stripe");
  EXPECT_TRUE(s.enabled()) << "a secret for whichever sender the routes name";
  EXPECT_EQ(s.scheme, signature_scheme::stripe);
}

TEST_F(signatures_of_defaults, are_an_error_with_a_preset_that_signs_otherwise_or_in_no_way_that_is_known) {
  EXPECT_TRUE(reports(under(github, "preset: stripe"),
                      "f:4:61: error: routes[0].idempotency.preset: stripe does not sign what defaults.signature",
                      "expected signature.secret_file beside it, or `signature: {scheme: \"\"}`"));
  EXPECT_TRUE(reports(under(github, "preset: wechat_v2"),
                      "f:4:61: error: routes[0].idempotency.preset: wechat_v2 does not sign",
                      "expected `signature: {"));
  EXPECT_TRUE(reports(under(github, "preset: stripe, signature: {tolerance: 1m}"), "f:4:61: error: "));
  EXPECT_TRUE(reports(under("signature: {secret_file: " + file + "}", "preset: alipay"), "f:4:61: error: "));
  EXPECT_TRUE(reports(under("preset: github, " + github, "preset: slack"), "f:4:61: error: "));
}

TEST_F(signatures_of_defaults, give_way_to_those_of_the_route) {
  const auto s = signature_under(github, "preset: stripe, signature: {secret_file: " + second + "}");
  EXPECT_EQ(s.scheme, signature_scheme::stripe);
  EXPECT_EQ(s.secret, "second");
  EXPECT_EQ(s.tolerance, 1min) << "which no preset has a say in";
  for (const char* block :
       {"signature: {scheme: \"\"}", "signature: {secret_file: \"\"}", "preset: wechat_v2, signature: {scheme: \"\"}",
        "preset: stripe, signature: {scheme: \"\"}", "preset: stripe, signature: {secret_file: \"\"}"}) {
    EXPECT_FALSE(signature_under(github, block).enabled()) << block;
  }
}

TEST(a_preset, of_another_route_leaves_no_scheme_behind) {
  const idem::test::temporary_folder folder;
  EXPECT_TRUE(
      reports(under("preset: github", "preset: alipay, signature: {secret_file: " + folder.write("s", "s") + "}"),
              "f:4:94: error: ", "has no scheme beside it"));
}

TEST(a_preset, of_defaults_is_undone_by_an_empty_one_and_what_stands_beside_it_stays) {
  const auto config =
      test::loaded(under("preset: stripe, lease: 20s, key: {required: true}", "preset: \"\", mismatch_status: 409"))
          .config;
  ASSERT_TRUE(config);
  const auto& c = config->routes.at(0).idempotency;
  EXPECT_EQ(c.preset, "");
  EXPECT_EQ(c.sender_tries, 0ms);
  EXPECT_EQ(c.key.from.at(0).at(0).text, "header:Idempotency-Key");
  EXPECT_EQ(c.scope.at(0).text, "credential");
  EXPECT_EQ(c.guarantee, guarantee::at_most_once);
  EXPECT_EQ(c.retention, 24h);
  EXPECT_FALSE(c.success.given());
  EXPECT_EQ(c.lease, 20s);
  EXPECT_TRUE(c.key.required);
  EXPECT_EQ(c.mismatch_status, 409u);
  const auto other = test::loaded(under("preset: stripe", "lease: 20s")).config;
  EXPECT_EQ(other->routes.at(0).idempotency.preset, "stripe") << "and of no other route";
  const auto lines = test::lines_of(load_text(under("preset: \"\", lease: 20", "preset: \"\""), "f"));
  EXPECT_EQ(lines.size(), 1u) << "a fault of the defaults is told once: " << testing::PrintToString(lines);
}

TEST(absent_is_success, warns_where_it_has_no_effect) {
  EXPECT_TRUE(reports(with_block("absent_is_success: always"), "f:7:26: warning: ", "without DELETE"));
  const auto on_delete = [](const std::string& text) {
    return test::with_routes("routes:\n  - name: a\n    match: {path: /a, methods: [DELETE]}\n    idempotency: {" +
                             text + "}\n");
  };
  EXPECT_TRUE(test::is_clean(on_delete("absent_is_success: always")));
  EXPECT_TRUE(test::is_clean(on_delete("absent_is_success: true, guarantee: at_least_once")));
  EXPECT_TRUE(reports(on_delete("absent_is_success: true"), "f:6:38: warning: ", "has no effect with at_most_once"));
}

TEST(fingerprint_ttl, is_at_least_the_lease_where_it_counts) {
  EXPECT_TRUE(test::is_clean(with_block("lease: 2m")));
  EXPECT_TRUE(reports(with_block("{lease: 2m, key: {from: [fingerprint]}}"), "f:", "1m is less than the lease (2m)"));
}

TEST(shown_routes, load_again_and_mean_the_same) {
  for (const preset& p : presets()) {
    const auto before = test::loaded(with_block("preset: " + std::string(p.name))).config;
    const std::string shown = show_routes(*before);
    EXPECT_NE(shown.find("# preset: " + std::string(p.name)), std::string::npos);
    const auto after = test::loaded(test::with_routes(shown)).config;
    ASSERT_TRUE(after) << shown;
    const auto &a = before->routes.at(0).idempotency, &b = after->routes.at(0).idempotency;
    EXPECT_EQ(show_routes(*after).substr(show_routes(*after).find("namespace")), shown.substr(shown.find("namespace")));
    EXPECT_EQ(a.key.from.at(0).at(0).text, b.key.from.at(0).at(0).text);
    EXPECT_EQ(a.retention, b.retention);
    EXPECT_EQ(a.success.body.expected, b.success.body.expected);
    EXPECT_EQ(a.success.statuses.codes, b.success.statuses.codes);
    EXPECT_EQ(a.success.statuses.classes, b.success.statuses.classes);
    EXPECT_EQ(a.in_flight.wait, b.in_flight.wait);
    EXPECT_EQ(a.guarantee, b.guarantee);
  }
  const auto odd =
      test::loaded(with_block("{key: {from: [[\"json:/a\\\"b\", \"xml:/c\"]], format: uuid}, "
                              "statuses: {final: [503], release: [4xx]}, mode: observe}"));
  const std::string shown = show_routes(*odd.config);
  EXPECT_EQ(show_routes(*test::loaded(test::with_routes(shown)).config), shown);
}

TEST(store_size, is_what_a_rate_comes_to_over_the_longest_time) {
  const auto c = block("{retention: 24h, hold: 24h, max_stored_body: 2KiB}");
  const auto size = estimate(c, 50);
  EXPECT_EQ(size.records, 4'320'000u);
  EXPECT_EQ(size.typical, 4'320'000u * (record_overhead + 1024));
  EXPECT_EQ(size.largest, 4'320'000u * (record_overhead + 2048));
  EXPECT_EQ(show_bytes(size.typical), "6.7 GiB");
  EXPECT_EQ(show_times(c), "lease 15s, retention 1d, hold 1d");
}

}  // namespace
}  // namespace idem::config
