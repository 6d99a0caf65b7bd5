// The checker against histories written by hand: a sound one, and each promise broken once.
#include "faults/checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "faults/records.hpp"

namespace idem::test {
namespace {

using namespace std::chrono_literals;

constexpr auto owner_a = "0001 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
constexpr auto owner_b = "0001 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
constexpr auto taker = "0002 cccccccccccccccccccccccccccccccc";
const moment start{};

std::string prefix(char state, const std::string& owner) { return std::string("i1 ") + state + " " + owner; }

operation pay(const std::string& key = "k", bool at_most_once = true) {
  return {at_most_once, at_most_once ? "once" : "again", "red", key, "{\"n\":1}"};
}

plain_answer made(std::size_t id) { return {201, "Made", {{"X-Execution", std::to_string(id)}}, "thing"}; }

/// Builds histories: one call each for what a backend did and what a client got.
class checker : public ::testing::Test {
 protected:
  execution& executes(const operation& o, moment at, outcome end = outcome::kept, std::size_t by = 0) {
    const auto id = h.executions.size() + 1;
    h.executions.push_back({id, o, by, at, end, made(id)});
    return h.executions.back();
  }

  attempt& gets(const operation& o, moment at, const plain_answer& a, bool replayed = false) {
    attempt t{h.attempts.size() + 1, o, at, at + 10ms, {}};
    t.answer.status = a.status;
    t.answer.reason = a.reason;
    t.answer.fields = a.lines;
    t.answer.fields.emplace_back("Content-Length", std::to_string(a.body.size()));
    if (replayed) t.answer.fields.emplace_back("Idempotent-Replayed", "true");
    t.answer.body = a.body;
    t.answer.end = ending::complete;
    h.attempts.push_back(t);
    return h.attempts.back();
  }

  attempt& is_refused(const operation& o, moment at, const std::string& code) {
    return gets(o, at, {503, "Refused", {{"Idempotency-Status", code}}, "{}"});
  }

  void seen(const std::string& prefix, moment at = start) { h.sightings.push_back({at, "idem:{k}", prefix}); }

  /// Exactly this invariant is violated.
  void expect_only(int invariant) {
    const auto found = check(h);
    EXPECT_FALSE(found.empty());
    for (const auto& v : found) EXPECT_EQ(v.invariant, invariant) << v.what;
  }
  void expect_sound() {
    const auto found = check(h);
    EXPECT_TRUE(found.empty()) << report(h, found);
  }

  history h;
};

TEST_F(checker, accepts_an_execution_its_answer_and_its_replay) {
  executes(pay(), start);
  gets(pay(), start, made(1));
  gets(pay(), start + 1s, made(1), true);
  seen(prefix('P', owner_a));
  seen(prefix('S', owner_a));
  h.at_the_end.push_back({"idem:{k}", 'S', 1000, 900, made(1)});
  h.store_gone.push_back({start + 5s, start + 6s, true});
  is_refused(pay("other"), start + 5s, "store-unavailable");
  expect_sound();
}

TEST_F(checker, finds_a_second_execution) {
  executes(pay(), start, outcome::broken);
  executes(pay(), start + 1s);
  expect_only(1);
}

TEST_F(checker, takes_a_released_answer_for_no_execution) {
  executes(pay(), start, outcome::released);
  executes(pay(), start + 1s);
  expect_sound();
}

TEST_F(checker, allows_at_least_once_routes_a_second_execution) {
  executes(pay("k", false), start, outcome::broken);
  executes(pay("k", false), start + 1s);
  expect_sound();
}

TEST_F(checker, finds_a_replay_that_differs_in_any_part) {
  for (int part = 0; part < 5; ++part) {
    h = {};
    executes(pay(), start);
    auto other = made(1);
    if (part == 0) other.status = 200;
    if (part == 1) other.reason = "made";
    if (part == 2) other.lines.emplace_back("X-Execution", "1");
    if (part == 3) other.lines[0].first = "x-execution";
    if (part == 4) other.body += '!';
    gets(pay(), start, other, true);
    expect_only(2);
  }
}

TEST_F(checker, finds_two_answers_that_were_both_said_to_be_kept) {
  executes(pay("k", false), start);
  executes(pay("k", false), start);
  gets(pay("k", false), start, made(1));
  gets(pay("k", false), start, made(2));
  expect_only(2);
}

TEST_F(checker, sets_answers_aside_that_are_marked_as_not_stored) {
  executes(pay("k", false), start);
  executes(pay("k", false), start);
  gets(pay("k", false), start, made(1)).answer.trailers.emplace_back("Idempotency-Status", "not-stored");
  gets(pay("k", false), start, made(2));
  expect_sound();
}

TEST_F(checker, finds_a_replay_of_a_released_answer) {
  executes(pay(), start, outcome::released);
  gets(pay(), start, made(1), true);
  expect_only(2);
}

TEST_F(checker, finds_a_cut_answer_that_was_passed_off_as_whole) {
  executes(pay(), start, outcome::broken);
  gets(pay(), start, made(1));
  expect_only(2);
}

TEST_F(checker, finds_a_stored_answer_that_is_not_the_backends) {
  executes(pay(), start).answer.body = "another thing";
  h.at_the_end.push_back({"idem:{k}", 'S', 1000, 900, made(1)});
  expect_only(2);
}

TEST_F(checker, finds_a_record_that_stays_processing) {
  h.after_owners_died.push_back({"idem:{k}", 'P', 1000, 1001, {}});
  expect_only(3);
  h = {};
  h.at_the_end.push_back({"idem:{k}", 'P', 1000, 1001, {}});
  expect_only(3);
  h.at_the_end[0].ttl_ms = 1000;
  expect_sound();
}

TEST_F(checker, finds_a_record_of_an_old_owner_over_a_newer_one) {
  seen(prefix('P', owner_a));
  seen(prefix('P', taker));
  seen(prefix('S', owner_a));
  expect_only(4);
}

TEST_F(checker, finds_every_change_of_a_settled_record) {
  for (const auto& after : {prefix('P', owner_a), prefix('F', owner_a), prefix('S', owner_b), prefix('P', taker), {}}) {
    h = {};
    seen(prefix('S', owner_a));
    seen(after);
    expect_only(4);
  }
}

TEST_F(checker, finds_an_unknown_outcome_that_is_forgotten) {
  seen(prefix('U', owner_a));
  seen("");
  expect_only(4);
}

TEST_F(checker, accepts_the_ways_of_a_record) {
  seen(prefix('P', owner_a));
  seen("");  // released
  seen(prefix('P', owner_b));
  seen(prefix('P', owner_a));  // released and claimed between two looks
  seen(prefix('U', owner_a));
  seen(prefix('P', taker));
  seen(prefix('X', taker));
  seen(prefix('U', taker));
  expect_sound();
}

TEST_F(checker, finds_a_request_that_was_sent_for_a_settled_key) {
  executes(pay("k", false), start);
  gets(pay("k", false), start, made(1));
  executes(pay("k", false), start + 3s);
  expect_only(4);
}

TEST_F(checker, finds_an_answer_that_went_to_another_scope_or_request) {
  for (const bool scope : {true, false}) {
    h = {};
    executes(pay(), start);
    auto other = pay();
    (scope ? other.scope : other.body) = "blue";
    gets(other, start, made(1), true);
    expect_only(5);
  }
}

TEST_F(checker, finds_a_request_that_was_changed_on_its_way) {
  auto changed = pay();
  changed.body = "{\"n\":2}";
  is_refused(pay(), start, "upstream-failed");
  executes(changed, start, outcome::broken, 1);
  expect_only(5);
}

TEST_F(checker, finds_one_answer_in_two_records) {
  executes(pay(), start);
  h.at_the_end.push_back({"idem:{k}", 'S', 1000, 900, made(1)});
  h.at_the_end.push_back({"idem:{l}", 'S', 1000, 900, made(1)});
  expect_only(5);
}

TEST_F(checker, finds_an_execution_without_a_store) {
  h.store_gone.push_back({start + 1s, start + 3s});
  is_refused(pay(), start + 2s, "store-unavailable");
  executes(pay(), start + 2s, outcome::broken, 1);
  expect_only(6);
}

TEST_F(checker, allows_what_was_claimed_before_the_store_went) {
  h.store_gone.push_back({start + 1s, start + 3s});
  is_refused(pay(), start + 500ms, "upstream-failed");
  executes(pay(), start + 2s, outcome::broken, 1);
  expect_sound();
}

TEST_F(checker, finds_replays_that_stop_while_the_store_can_be_read) {
  executes(pay(), start);
  gets(pay(), start, made(1), true);
  h.store_gone.push_back({start + 1s, start + 3s, true});
  for (int i = 0; i < 5; ++i) is_refused(pay(), start + 2s, "store-unavailable");
  expect_only(6);
  gets(pay(), start + 2s, made(1), true);
  expect_sound();
}

TEST(a_record, is_read_with_its_answer) {
  const std::string text =
      prefix('S', owner_a) + " 1000 7200000 7200000 m 1 d 1.0 201 25 5 p c\nMade\r\nX-Execution: 1234\r\nthing";
  const auto r = read_record("idem:{k}", text, 42);
  EXPECT_EQ(r.state, 'S');
  EXPECT_EQ(r.hold_ms, 7200000);
  EXPECT_EQ(r.answer.reason, "Made");
  EXPECT_EQ(execution_of(r.answer.lines), 1234u);
  EXPECT_EQ(r.answer.body, "thing");
}

}  // namespace
}  // namespace idem::test
