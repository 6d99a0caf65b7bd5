// Lapsed leases, taking over, and how long an owner may trust its own lease.
#include "engine_fixture.hpp"

namespace idem::idempotency {
namespace {

using namespace testing;

const record lapsed = repeatable(other_record(record_state::processing));

TEST(engine_lease, a_lapse_is_a_suspicion_until_one_step_says_the_same) {
  script s(repeating_route());
  s.start();
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::submit);
  EXPECT_EQ(s.asked(), op::look);
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::submit);
  EXPECT_EQ(s.asked(), op::take_over);
}

TEST(engine_lease, a_lease_with_a_millisecond_left_is_no_lapse) {
  script s(repeating_route());
  s.start();
  ASSERT_EQ(s.reply_with(found(lapsed, hold + 1ms)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
}

TEST(engine_lease, the_records_own_hold_dates_the_lapse) {
  auto r = lapsed;
  r.hold = 1h;
  script s(repeating_route());
  s.start();
  ASSERT_EQ(s.reply_with(found(r, 1h + 1ms)), next::refuse);
  s.start();
  ASSERT_EQ(s.reply_with(found(r, 1h)), next::submit);
  ASSERT_EQ(s.reply_with(found(r, 1h)), next::submit);
  ASSERT_EQ(s.asked(), op::take_over);
  EXPECT_EQ(s.e.pending().hold, 1h);
  EXPECT_EQ(s.e.pending().ttl, lease + hold) << "from here on the taker's values count";
  EXPECT_EQ(s.wrote().hold, hold);
}

TEST(engine_lease, a_look_that_finds_the_answer_replays_it) {
  script s(repeating_route());
  s.start();
  s.reply_with(found(lapsed, hold));
  EXPECT_EQ(s.reply_with(found(other_record(record_state::succeeded), hold)), next::replay);
}

TEST(engine_lease, a_look_that_finds_the_lease_renewed_is_in_progress) {
  script s(repeating_route());
  s.start();
  s.reply_with(found(lapsed, hold));
  ASSERT_EQ(s.reply_with(found(lapsed, hold + lease)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
}

TEST(engine_lease, a_look_that_finds_nothing_claims) {
  script s(repeating_route());
  s.start();
  s.reply_with(found(lapsed, hold));
  ASSERT_EQ(s.reply_with(plain(verdict::absent)), next::submit);
  EXPECT_EQ(s.asked(), op::claim);
  EXPECT_EQ(s.reply_with(s.own()), next::execute);
}

TEST(engine_lease, a_take_over_has_a_fresh_token_the_next_number_and_the_records_first_date) {
  script s(repeating_route());
  s.start();
  const auto claimed_with = s.e.own();
  s.reply_with(found(lapsed, hold));
  s.reply_with(found(lapsed, hold));
  EXPECT_NE(s.e.own().token, claimed_with.token);
  EXPECT_EQ(s.e.own().attempt, 2);
  EXPECT_EQ(s.wrote().owner, s.e.own());
  EXPECT_EQ(s.wrote().created, wall - 400);
  EXPECT_EQ(s.e.pending().expect, record_prefix(record_state::processing, lapsed.owner));
  ASSERT_EQ(s.reply_with(plain(verdict::done)), next::execute);
  EXPECT_TRUE(s.e.taken_over());
}

TEST(engine_lease, a_declared_unknown_outcome_is_taken_over_without_a_look) {
  script s(repeating_route());
  const auto declared = repeatable(other_record(record_state::unknown, 4));
  s.start();
  ASSERT_EQ(s.reply_with(found(declared, hold)), next::submit);
  EXPECT_EQ(s.asked(), op::take_over);
  EXPECT_EQ(s.e.pending().expect, record_prefix(record_state::unknown, declared.owner));
  EXPECT_EQ(s.e.own().attempt, 5);
}

TEST(engine_lease, attempt_numbers_stop_at_the_largest) {
  script s(repeating_route());
  s.take_over(0xffff);
  EXPECT_EQ(s.e.own().attempt, 0xffff);
  EXPECT_NE(s.e.own().token, lapsed.owner.token);
}

TEST(engine_lease, nothing_is_taken_over_unless_record_and_route_both_allow_a_repetition) {
  for (const auto state : {record_state::processing, record_state::unknown}) {
    script careful(careful_route());
    careful.start();
    auto n = careful.reply_with(found(repeatable(other_record(state)), hold));
    if (n == next::submit) n = careful.reply_with(found(repeatable(other_record(state)), hold));
    ASSERT_EQ(n, next::refuse);
    EXPECT_EQ(careful.e.refusal().code, problem_code::outcome_unknown);

    script repeating(repeating_route());
    repeating.start();
    n = repeating.reply_with(found(other_record(state), hold));
    if (n == next::submit) n = repeating.reply_with(found(other_record(state), hold));
    ASSERT_EQ(n, next::refuse);
    EXPECT_EQ(repeating.e.refusal().code, problem_code::outcome_unknown);
  }
}

TEST(engine_lease, a_lost_take_over_starts_over_with_another_token) {
  script s(repeating_route());
  s.start();
  s.reply_with(found(lapsed, hold));
  s.reply_with(found(lapsed, hold));
  const auto given_up = s.e.own();
  ASSERT_EQ(s.reply_with(lost(other_record(record_state::processing, 2))), next::submit);
  EXPECT_EQ(s.asked(), op::claim);
  EXPECT_NE(s.e.own().token, given_up.token);
  EXPECT_EQ(s.e.own().attempt, 1);
}

TEST(engine_lease, grace_answers_a_confirmed_lapse_as_in_progress) {
  for (const auto& route : {careful_route(), repeating_route()}) {
    script s(route);
    s.e.store_was_troubled(s.now - 7500ms);
    s.start();
    ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::submit);
    ASSERT_EQ(s.asked(), op::look);
    ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::refuse);
    EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
    EXPECT_EQ(s.e.refusal().retry_after, 8u);
  }
}

TEST(engine_lease, grace_takes_no_declared_outcome_over_and_ends_on_time) {
  const auto declared = repeatable(other_record(record_state::unknown));
  script s(repeating_route());
  s.e.store_was_troubled(s.now - lease + 1ms);
  s.start();
  ASSERT_EQ(s.reply_with(found(declared, hold)), next::refuse);
  s.pass(1ms);
  s.start();
  ASSERT_EQ(s.reply_with(found(declared, hold)), next::submit);
  EXPECT_EQ(s.asked(), op::take_over);
}

TEST(engine_lease, grace_hides_no_answer) {
  script s;
  s.e.store_was_troubled(s.now);
  s.start();
  EXPECT_EQ(s.reply_with(found(other_record(record_state::succeeded), hold)), next::replay);
}

TEST(engine_lease, grace_lasts_as_long_as_the_lease_of_the_record_where_that_is_longer) {
  auto slow = lapsed;
  slow.lease = 4 * lease;
  script s(repeating_route());
  s.e.store_was_troubled(s.now);
  for (const auto passed : {lease, 2 * lease, lease - 1ms}) {
    s.pass(passed);
    s.start();
    ASSERT_EQ(s.reply_with(found(slow, hold)), next::submit);
    ASSERT_EQ(s.asked(), op::look);
    ASSERT_EQ(s.reply_with(found(slow, hold)), next::refuse);
    EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
  }
  EXPECT_EQ(s.e.refusal().retry_after, 1u);
  s.pass(1ms);
  s.start();
  s.reply_with(found(slow, hold));
  ASSERT_EQ(s.reply_with(found(slow, hold)), next::submit);
  EXPECT_EQ(s.asked(), op::take_over);
}

TEST(engine_lease, grace_lasts_as_long_as_the_lease_of_the_route_where_the_record_has_a_shorter_one) {
  auto quick = lapsed;
  quick.lease = lease / 5;
  script s(repeating_route());
  s.e.store_was_troubled(s.now - lease / 2);
  s.start();
  s.reply_with(found(quick, hold));
  ASSERT_EQ(s.reply_with(found(quick, hold)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
}

TEST(engine_lease, trouble_that_ends_while_the_claim_is_under_way_begins_a_grace) {
  script s(repeating_route());
  s.start();
  s.pass(300ms);
  s.e.store_was_troubled(s.now);
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::submit);
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
}

TEST(engine_lease, a_claim_without_a_reply_begins_a_grace_of_its_own) {
  script s(repeating_route());
  s.start();
  ASSERT_EQ(s.reply_with(silence()), next::submit);
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::submit);
  ASSERT_EQ(s.asked(), op::look);
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
}

// ------------------------------------------------------------------------------------------------ before the first
// byte

TEST(engine_lease, an_owner_may_send_for_exactly_two_thirds_of_its_lease) {
  script s;
  s.claim();
  const auto claimed = s.now;
  EXPECT_TRUE(s.e.may_send(claimed + 10s));
  EXPECT_FALSE(s.e.may_send(claimed + 10s + 1ms));
}

TEST(engine_lease, the_lease_counts_from_the_first_try_of_the_claim) {
  script s;
  s.start();
  const auto first = s.now;
  s.pass(3s);
  s.reply_with(silence());
  s.pass(3s);
  s.reply_with(plain(verdict::absent));
  s.pass(3s);
  ASSERT_EQ(s.reply_with(s.own()), next::execute);
  EXPECT_TRUE(s.e.may_send(first + 10s));
  EXPECT_FALSE(s.e.may_send(first + 10s + 1ms));
}

TEST(engine_lease, after_a_take_over_the_lease_counts_from_when_that_was_sent) {
  script s(repeating_route());
  s.start();
  s.pass(4s);
  s.reply_with(found(lapsed, hold));
  s.pass(4s);
  s.reply_with(found(lapsed, hold));
  const auto sent = s.now;
  s.pass(4s);
  ASSERT_EQ(s.reply_with(plain(verdict::done)), next::execute);
  EXPECT_TRUE(s.e.may_send(sent + 10s));
  EXPECT_FALSE(s.e.may_send(sent + 10s + 1ms));
}

TEST(engine_lease, after_a_renewal_it_counts_from_when_that_was_sent_however_late_the_reply_is_read) {
  script s;
  s.claim();
  s.pass(11s);
  ASSERT_EQ(s.e.renew_before_send(s.now), next::submit);
  EXPECT_EQ(s.asked(), op::renew);
  EXPECT_EQ(s.e.pending().expect, s.e.own().text());
  EXPECT_EQ(s.e.pending().ttl, lease + hold);
  const auto sent = s.now;
  s.pass(11s);
  ASSERT_EQ(s.reply_with(plain(verdict::done)), next::execute);
  EXPECT_FALSE(s.e.may_send(s.now));
  EXPECT_TRUE(s.e.may_send(sent + 10s));
}

TEST(engine_lease, a_periodic_renewal_counts_only_once_it_is_acknowledged) {
  script s;
  s.claim();
  const auto claimed = s.now;
  s.pass(9s);
  s.e.renew_command(s.now);
  EXPECT_FALSE(s.e.may_send(claimed + 11s));
  EXPECT_TRUE(s.e.renewed(silence(), s.now));
  EXPECT_FALSE(s.e.may_send(claimed + 11s));
  s.e.renew_command(s.now);
  EXPECT_TRUE(s.e.renewed(plain(verdict::done), s.now));
  EXPECT_TRUE(s.e.may_send(claimed + 11s));
}

TEST(engine_lease, a_key_that_is_anothers_before_the_first_byte_leaves_the_decision_to_the_record) {
  script s;
  s.claim();
  const auto before = s.e.own();
  s.pass(11s);
  s.e.renew_before_send(s.now);
  ASSERT_EQ(s.reply_with(lost(other_record(record_state::succeeded))), next::submit);
  EXPECT_EQ(s.asked(), op::claim);
  EXPECT_NE(s.e.own().token, before.token);
  EXPECT_EQ(s.reply_with(found(other_record(record_state::succeeded), hold)), next::replay);
}

TEST(engine_lease, a_renewal_before_the_first_byte_without_a_reply_sends_nothing_and_releases_the_key) {
  for (const auto& r : {silence(), unreachable(), plain(verdict::refused)}) {
    script s;
    s.claim();
    s.pass(11s);
    s.e.renew_before_send(s.now);
    ASSERT_EQ(s.reply_with(r), next::refuse);
    EXPECT_EQ(s.e.refusal().code, problem_code::store_unavailable);
    s.e.give_up();
    ASSERT_EQ(s.e.abandoned_tokens().size(), 1u) << "its record stands in the store";
    EXPECT_EQ(s.e.abandoned_tokens().front().token, s.e.own());
  }
}

TEST(engine_lease, a_renewal_that_finds_nothing_writes_the_record_again) {
  script s;
  s.claim();
  const auto claimed = s.e.own();
  const auto& c = s.e.renew_command(s.now);
  EXPECT_EQ(decode(c.value).value.owner, claimed);
  EXPECT_EQ(decode(c.value).value.created, wall);
  EXPECT_TRUE(s.e.renewed(plain(verdict::recreated), s.now));
  EXPECT_TRUE(s.e.record_vanished());
}

TEST(engine_lease, renewing_ends_when_the_record_is_anothers_and_goes_on_while_the_store_is_silent) {
  script s;
  s.claim();
  s.e.renew_command(s.now);
  EXPECT_TRUE(s.e.renewed(silence(), s.now));
  s.e.renew_command(s.now);
  EXPECT_FALSE(s.e.renewed(lost(other_record(record_state::processing)), s.now));
}

TEST(engine_lease, nothing_is_sent_once_a_renewal_has_found_anothers_record_however_young_the_clock_is) {
  script s;
  s.now = time_point(3s);  // since the machine has started
  s.claim();
  EXPECT_TRUE(s.e.may_send(s.now));
  s.e.renew_command(s.now);
  EXPECT_FALSE(s.e.renewed(lost(other_record(record_state::processing)), s.now));
  EXPECT_FALSE(s.e.may_send(s.now));
}

}  // namespace
}  // namespace idem::idempotency
