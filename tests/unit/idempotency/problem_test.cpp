#include "idem/idempotency/problem.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>
#include <set>

namespace idem::idempotency {
namespace {

struct expected_row {
  problem_code code;
  std::string_view text;
  unsigned status;
  bool retryable, safe_new_key;
};

constexpr expected_row table[] = {
    {problem_code::missing_key, "missing-key", 400, false, true},
    {problem_code::malformed_key, "malformed-key", 400, false, true},
    {problem_code::missing_scope, "missing-scope", 400, false, true},
    {problem_code::request_too_large, "request-too-large", 413, false, true},
    {problem_code::malformed_request, "malformed-request", 400, false, true},
    {problem_code::head_too_large, "head-too-large", 431, false, true},
    {problem_code::request_timeout, "request-timeout", 408, true, true},
    {problem_code::key_reused, "key-reused", 422, false, false},
    {problem_code::fingerprint_unknown, "fingerprint-unknown", 409, false, false},
    {problem_code::in_progress, "in-progress", 409, true, false},
    {problem_code::outcome_unknown, "outcome-unknown", 409, false, false},
    {problem_code::answer_not_kept, "answer-not-kept", 409, false, false},
    {problem_code::busy, "busy", 503, true, true},
    {problem_code::store_unavailable, "store-unavailable", 503, true, false},
    {problem_code::upstream_unavailable, "upstream-unavailable", 502, true, false},
    {problem_code::upstream_failed, "upstream-failed", 502, false, false},
    {problem_code::upstream_timeout, "upstream-timeout", 504, true, false},
    {problem_code::bad_signature, "bad-signature", 401, false, true},
};
static_assert(std::size(table) == problem_code_count);

TEST(problem_table, every_code_has_the_status_and_flags_of_the_protocol) {
  for (const expected_row& e : table) {
    const problem_row& r = row(e.code);
    EXPECT_EQ(r.code, e.text);
    EXPECT_EQ(r.status, e.status) << e.text;
    EXPECT_EQ(r.retryable, e.retryable) << e.text;
    EXPECT_EQ(r.safe_new_key, e.safe_new_key) << e.text;
  }
}

TEST(problem_table, titles_and_details_are_there_and_each_is_its_own) {
  std::set<std::string_view> titles, details;
  for (const expected_row& e : table) {
    titles.insert(row(e.code).title);
    details.insert(row(e.code).detail);
    EXPECT_TRUE(row(e.code).detail.ends_with('.')) << e.text;
  }
  EXPECT_EQ(titles.size(), problem_code_count);
  EXPECT_EQ(details.size(), problem_code_count);
}

TEST(problem_table, what_may_have_been_executed_never_invites_a_new_key) {
  for (const problem_code code : {problem_code::outcome_unknown, problem_code::answer_not_kept,
                                  problem_code::upstream_failed, problem_code::upstream_timeout}) {
    EXPECT_FALSE(problem(code).safe_new_key);
    EXPECT_NE(row(code).detail.find("do not"), std::string_view::npos);
  }
}

TEST(problem_body, holds_the_members_of_the_protocol) {
  problem p(problem_code::outcome_unknown);
  p.first_seen = 1700000000123;
  p.attempt = 2;
  const auto json = boost::json::parse(problem_body(p)).as_object();
  EXPECT_EQ(json.at("type").as_string(), "urn:idempotency-proxy:problem:outcome-unknown");
  EXPECT_EQ(json.at("title").as_string(), row(p.code).title);
  EXPECT_EQ(json.at("status").as_int64(), 409);
  EXPECT_EQ(json.at("detail").as_string(), row(p.code).detail);
  EXPECT_EQ(json.at("code").as_string(), "outcome-unknown");
  EXPECT_FALSE(json.at("retryable").as_bool());
  EXPECT_FALSE(json.at("safe_new_key").as_bool());
  EXPECT_EQ(json.at("first_seen").as_string(), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(json.at("attempt").as_int64(), 2);
  EXPECT_EQ(json.size(), 9u);
}

TEST(problem_body, leaves_out_first_seen_and_attempt_unless_they_are_known) {
  const auto json = boost::json::parse(problem_body(problem(problem_code::busy))).as_object();
  EXPECT_EQ(json.size(), 7u);
}

TEST(problem_body, follows_what_the_situation_changed) {
  problem p(problem_code::in_progress);
  p.status = 202;
  p.retryable = false;
  p.safe_new_key = true;
  p.detail = "a \"quoted\" \\ detail\nwith a line feed";
  const auto json = boost::json::parse(problem_body(p)).as_object();
  EXPECT_EQ(json.at("status").as_int64(), 202);
  EXPECT_FALSE(json.at("retryable").as_bool());
  EXPECT_TRUE(json.at("safe_new_key").as_bool());
  EXPECT_EQ(json.at("detail").as_string(), p.detail);
}

TEST(problem_body, dates_before_the_epoch_and_far_ahead_stay_rfc_3339) {
  problem p(problem_code::outcome_unknown);
  p.first_seen = -1;
  EXPECT_NE(problem_body(p).find("\"1969-12-31T23:59:59.999Z\""), std::string::npos);
  p.first_seen = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(problem_body(p).find("\"9999-12-31T23:59:59.999Z\""), std::string::npos);
  p.first_seen = std::numeric_limits<std::int64_t>::min();
  EXPECT_NE(problem_body(p).find("\"0000-01-01T00:00:00.000Z\""), std::string::npos);
}

TEST(problem_response, is_a_whole_message) {
  problem p(problem_code::in_progress);
  p.retry_after = 7;
  std::string out = "before";
  append_problem_response(out, p);
  const std::string body = problem_body(p);
  EXPECT_EQ(out,
            "beforeHTTP/1.1 409 Conflict\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n"
            "Idempotency-Status: in-progress\r\nRetry-After: 7\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
}

TEST(problem_response, says_whether_the_connection_goes_on) {
  problem p(problem_code::busy);
  std::string out;
  append_problem_response(out, p, true);
  EXPECT_NE(out.find("\r\nConnection: keep-alive\r\n"), std::string::npos);
  p.close = true;
  out.clear();
  append_problem_response(out, p, true);
  EXPECT_NE(out.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_EQ(out.find("keep-alive"), std::string::npos);
}

TEST(problem_response, to_head_has_the_length_but_not_the_body) {
  const problem p(problem_code::missing_key);
  std::string out;
  append_problem_response(out, p, false, true);
  EXPECT_NE(out.find("\r\nContent-Length: " + std::to_string(problem_body(p).size()) + "\r\n\r\n"), std::string::npos);
  EXPECT_TRUE(out.ends_with("\r\n\r\n"));
}

TEST(problem_response, has_further_lines_of_its_caller_in_its_head) {
  problem p(problem_code::busy);
  p.close = true;
  const std::string lines = "A: 1\r\nB: 2\r\n";
  std::string without, with, to_head;
  append_problem_response(without, p);
  append_problem_response(with, p, false, false, lines);
  append_problem_response(to_head, p, false, true, lines);
  const auto end = without.find("\r\n\r\n") + 2;
  EXPECT_EQ(with, without.substr(0, end) + lines + without.substr(end));
  EXPECT_EQ(to_head, without.substr(0, end) + lines + "\r\n");
}

TEST(problem_response, with_405_lists_methods) {
  problem p(problem_code::malformed_request);
  std::string out;
  append_problem_response(out, p);
  EXPECT_EQ(out.find("\r\nAllow:"), std::string::npos);
  p.status = 405;
  out.clear();
  append_problem_response(out, p);
  EXPECT_NE(out.find("HTTP/1.1 405 Method Not Allowed\r\n"), std::string::npos);
  EXPECT_NE(out.find("\r\nAllow: GET, "), std::string::npos);
}

TEST(reason_phrase, is_known_for_every_status_of_the_table) {
  for (const expected_row& e : table) EXPECT_NE(reason_phrase(e.status), "Unknown") << e.status;
  for (const unsigned status : {202u, 405u, 414u, 501u, 505u}) EXPECT_NE(reason_phrase(status), "Unknown") << status;
  EXPECT_EQ(reason_phrase(299), "Unknown");
}

}  // namespace
}  // namespace idem::idempotency
