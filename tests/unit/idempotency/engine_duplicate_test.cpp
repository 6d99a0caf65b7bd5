// What a duplicate gets, for every state of the record that it finds.
#include "engine_fixture.hpp"

namespace idem::idempotency {
namespace {

using namespace testing;

constexpr record_state all_states[] = {record_state::processing,   record_state::unknown,      record_state::succeeded,
                                       record_state::failed_final, record_state::without_body, record_state::revoked};

record for_another_request(record r) {
  r.fingerprint = print_of(2);
  return r;
}

TEST(engine_duplicate, an_owner_within_its_lease_answers_in_progress) {
  script s;
  s.start();
  ASSERT_EQ(s.reply_with(found(other_record(record_state::processing), hold + 1ms)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
  EXPECT_EQ(s.e.refusal().status, 409u);
  EXPECT_TRUE(s.e.refusal().retryable);
  EXPECT_FALSE(s.e.refusal().safe_new_key);
}

TEST(engine_duplicate, accepted_changes_only_the_status) {
  auto route = careful_route();
  route.in_flight.respond = config::in_flight_respond::accepted;
  script s(route);
  s.start();
  ASSERT_EQ(s.reply_with(found(other_record(record_state::processing), hold + 1ms)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
  EXPECT_EQ(s.e.refusal().status, 202u);
}

TEST(engine_duplicate, wait_waits_and_claims_anew_with_a_fresh_token) {
  auto route = careful_route();
  route.in_flight.respond = config::in_flight_respond::wait;
  script s(route);
  s.start();
  const auto first = s.e.own();
  ASSERT_EQ(s.reply_with(found(other_record(record_state::processing), hold + 1ms)), next::wait);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
  ASSERT_EQ(s.start(), next::submit);
  EXPECT_NE(s.e.own(), first);
  EXPECT_EQ(s.reply_with(found(other_record(record_state::succeeded), hold)), next::replay);
}

TEST(engine_duplicate, a_stored_answer_is_replayed) {
  for (const auto state : {record_state::succeeded, record_state::failed_final}) {
    script s;
    s.start();
    ASSERT_EQ(s.reply_with(found(other_record(state), hold)), next::replay);
    EXPECT_EQ(s.e.found().value.status, 201u);
    EXPECT_EQ(s.e.found().value.body, "{}");
  }
}

TEST(engine_duplicate, a_stored_answer_needs_no_date) {
  for (const auto ttl : {reply::no_record, reply::no_expiry}) {
    script s;
    s.start();
    EXPECT_EQ(s.reply_with(found(other_record(record_state::succeeded), ttl)), next::replay);
  }
}

TEST(engine_duplicate, what_is_dated_by_its_time_to_live_is_looked_at_where_the_claim_did_not_tell_it) {
  for (const auto state : all_states) {
    script s;
    s.start();
    const auto answered = s.reply_with(found(other_record(state), reply::not_asked));
    if (state != record_state::processing && state != record_state::unknown && state != record_state::revoked) {
      EXPECT_NE(answered, next::submit) << "needs no date";
      continue;
    }
    ASSERT_EQ(answered, next::submit);
    ASSERT_EQ(s.asked(), op::look);
    ASSERT_EQ(s.reply_with(found(other_record(record_state::processing), hold)), next::refuse);
    EXPECT_EQ(s.e.refusal().code, problem_code::outcome_unknown) << "one step has said that it lapsed";
  }
}

TEST(engine_duplicate, another_request_is_refused_before_its_date_is_asked_for) {
  script s;
  s.start();
  ASSERT_EQ(s.reply_with(found(for_another_request(other_record(record_state::processing)), reply::not_asked)),
            next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::key_reused);
}

TEST(engine_duplicate, an_answer_that_was_not_kept_is_refused) {
  script s;
  s.start();
  ASSERT_EQ(s.reply_with(found(other_record(record_state::without_body), hold)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::answer_not_kept);
  EXPECT_FALSE(s.e.refusal().retryable);
}

TEST(engine_duplicate, status_only_gives_the_head_of_an_answer_that_was_not_kept) {
  auto route = careful_route();
  route.oversize = config::oversize_policy::status_only;
  script s(route);
  s.start();
  EXPECT_EQ(s.reply_with(found(other_record(record_state::without_body), hold)), next::status_only);
}

TEST(engine_duplicate, a_declared_unknown_outcome_is_not_worth_a_retry) {
  script s;
  s.start();
  ASSERT_EQ(s.reply_with(found(other_record(record_state::unknown, 3), hold)), next::refuse);
  const auto& p = s.e.refusal();
  EXPECT_EQ(p.code, problem_code::outcome_unknown);
  EXPECT_FALSE(p.retryable);
  EXPECT_FALSE(p.safe_new_key);
  EXPECT_FALSE(p.retry_after);
  EXPECT_EQ(p.first_seen, wall - 400);
  EXPECT_EQ(p.attempt, 3u);
}

TEST(engine_duplicate, a_lapsed_outcome_may_still_be_resolved_by_its_owner) {
  script s;
  s.start();
  auto lapsed = other_record(record_state::processing);
  lapsed.lease = 4200ms;
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::submit);
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::outcome_unknown);
  EXPECT_TRUE(s.e.refusal().retryable);
  EXPECT_EQ(s.e.refusal().retry_after, 5u);
}

TEST(engine_duplicate, a_revoked_key_is_in_progress_until_its_time_ends) {
  script s;
  s.start();
  ASSERT_EQ(s.reply_with(found(other_record(record_state::revoked), 22'001ms)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
  EXPECT_EQ(s.e.refusal().retry_after, 23u);
}

TEST(engine_duplicate, a_record_that_nobody_can_date_is_an_unknown_outcome_and_never_taken_over) {
  for (const auto state : {record_state::processing, record_state::unknown, record_state::revoked}) {
    script s(repeating_route());
    s.start();
    ASSERT_EQ(s.reply_with(found(repeatable(other_record(state)), reply::no_expiry)), next::refuse);
    EXPECT_EQ(s.e.refusal().code, problem_code::outcome_unknown);
    EXPECT_FALSE(s.e.refusal().retryable);
  }
}

TEST(engine_duplicate, another_request_is_a_mismatch_whatever_the_state) {
  for (const auto state : all_states) {
    script s(repeating_route());
    s.start();
    ASSERT_EQ(s.reply_with(found(for_another_request(repeatable(other_record(state))), hold)), next::refuse)
        << static_cast<char>(state);
    EXPECT_EQ(s.e.refusal().code, problem_code::key_reused);
    EXPECT_EQ(s.e.refusal().status, 422u);
  }
}

TEST(engine_duplicate, a_mismatch_takes_the_routes_status) {
  auto route = careful_route();
  route.mismatch_status = 409;
  script s(route);
  s.start();
  s.reply_with(found(for_another_request(other_record(record_state::processing)), hold));
  EXPECT_EQ(s.e.refusal().status, 409u);
}

TEST(engine_duplicate, a_mismatch_is_decided_before_the_state_when_a_look_finds_another_record) {
  script s(repeating_route());
  const auto lapsed = repeatable(other_record(record_state::processing));
  s.start();
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::submit);
  ASSERT_EQ(s.asked(), op::look);
  ASSERT_EQ(s.reply_with(found(for_another_request(lapsed), hold)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::key_reused);
}

TEST(engine_duplicate, a_record_made_under_other_settings_is_compared_by_those) {
  other_settings others;
  others.known[99] = print_of(5, 99);
  auto theirs = other_record(record_state::succeeded);
  theirs.fingerprint = print_of(5, 99);
  script same(careful_route(), &others);
  same.start();
  EXPECT_EQ(same.reply_with(found(theirs, hold)), next::replay);
  theirs.fingerprint = print_of(6, 99);
  script different(careful_route(), &others);
  different.start();
  ASSERT_EQ(different.reply_with(found(theirs, hold)), next::refuse);
  EXPECT_EQ(different.e.refusal().code, problem_code::key_reused);
}

TEST(engine_duplicate, settings_that_are_not_known_here_are_neither_a_mismatch_nor_a_replay_nor_an_execution) {
  other_settings others;
  for (fingerprint_source* source :
       {static_cast<fingerprint_source*>(nullptr), static_cast<fingerprint_source*>(&others)}) {
    for (const auto state : all_states) {
      script s(repeating_route(), source);
      auto theirs = repeatable(other_record(state));
      theirs.fingerprint = print_of(1, 99);  // equal digests of different settings mean nothing
      s.start();
      ASSERT_EQ(s.reply_with(found(theirs, hold)), next::refuse);
      EXPECT_EQ(s.e.refusal().code, problem_code::fingerprint_unknown);
      EXPECT_EQ(s.e.refusal().status, 409u);
    }
  }
}

unsigned retry_after(milliseconds expected, milliseconds age, milliseconds of_lease) {
  auto route = careful_route();
  route.lease = of_lease;
  script s(route, nullptr, expected);
  auto r = other_record(record_state::processing);
  r.created = wall - age.count();
  s.start();
  EXPECT_EQ(s.reply_with(found(r, hold + 1ms)), next::refuse);
  return s.e.refusal().retry_after.value_or(0);
}

TEST(engine_duplicate, retry_after_is_what_the_route_usually_takes_less_the_records_age) {
  EXPECT_EQ(retry_after(9s, 2s, 15s), 7u);
  EXPECT_EQ(retry_after(9s, 2001ms, 15s), 7u);
  EXPECT_EQ(retry_after(9s, 1999ms, 15s), 8u);
}

TEST(engine_duplicate, retry_after_is_one_second_at_least_and_a_lease_at_most) {
  EXPECT_EQ(retry_after(1s, 30s, 15s), 1u);
  EXPECT_EQ(retry_after(10ms, 0s, 15s), 1u);
  EXPECT_EQ(retry_after(5min, 0s, 15s), 15u);
  EXPECT_EQ(retry_after(5min, 0s, 300ms), 1u);
  // a clock that runs ahead elsewhere makes no age below zero
  EXPECT_EQ(retry_after(3s, -1h, 15s), 3u);
}

}  // namespace
}  // namespace idem::idempotency
