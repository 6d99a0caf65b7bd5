// Getting a key: claims, lost replies, records that expire between two steps, and stores that cannot be read.
#include "engine_fixture.hpp"

namespace idem::idempotency {
namespace {

using namespace testing;

TEST(engine_claim, writes_a_processing_record_that_outlives_its_lease_by_the_hold) {
  script s;
  ASSERT_EQ(s.start(), next::submit);
  EXPECT_EQ(s.asked(), op::claim);
  EXPECT_EQ(s.e.pending().name, "idem:{name}");
  EXPECT_EQ(s.e.pending().ttl, lease + hold);
  const auto r = s.wrote();
  EXPECT_EQ(r.state, record_state::processing);
  EXPECT_EQ(r.owner.attempt, 1);
  EXPECT_EQ(r.created, wall);
  EXPECT_EQ(r.fingerprint, print_of(1));
}

TEST(engine_claim, its_own_token_in_the_record_means_that_the_key_is_its_own) {
  script s;
  s.claim();
  EXPECT_FALSE(s.e.taken_over());
  EXPECT_FALSE(s.e.store_was_read());
}

TEST(engine_claim, a_claim_without_a_reply_is_tried_again_with_the_same_token_and_finds_itself) {
  script s;
  s.start();
  const auto first = s.written();
  ASSERT_EQ(s.reply_with(silence()), next::submit);
  EXPECT_EQ(s.written(), first);
  EXPECT_EQ(s.reply_with(found(first, (lease + hold).count())), next::execute);
}

TEST(engine_claim, a_second_claim_without_a_reply_ends_in_store_unavailable) {
  script s;
  s.start();
  s.reply_with(silence());
  ASSERT_EQ(s.reply_with(silence()), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::store_unavailable);
  EXPECT_EQ(s.e.refusal().retry_after, 1u);
}

TEST(engine_claim, a_claim_that_was_never_sent_is_not_tried_again_and_owes_nothing) {
  script s;
  s.start();
  ASSERT_EQ(s.reply_with(unreachable()), next::refuse);
  s.e.give_up();
  EXPECT_TRUE(s.e.abandoned_tokens().empty());
}

TEST(engine_claim, nothing_found_is_claimed_again_with_the_same_token_three_times_and_then_in_progress) {
  script s;
  s.start();
  const auto first = s.written();
  for (int tries = 1; tries < 3; ++tries) {
    ASSERT_EQ(s.reply_with(plain(verdict::absent)), next::submit);
    EXPECT_EQ(s.asked(), op::claim);
    EXPECT_EQ(s.written(), first);
  }
  ASSERT_EQ(s.reply_with(plain(verdict::absent)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
}

TEST(engine_claim, its_own_record_that_expired_before_it_was_dated_is_claimed_again) {
  script s;
  s.start();
  const auto own = s.written();
  ASSERT_EQ(s.reply_with(found(own, reply::no_record)), next::submit);
  EXPECT_EQ(s.asked(), op::claim);
  EXPECT_EQ(s.written(), own);
}

TEST(engine_claim, anothers_record_that_expired_before_it_was_dated_is_claimed_again) {
  for (const auto state : {record_state::processing, record_state::unknown, record_state::revoked}) {
    script s;
    s.start();
    ASSERT_EQ(s.reply_with(found(other_record(state), reply::no_record)), next::submit);
    EXPECT_EQ(s.asked(), op::claim);
  }
}

TEST(engine_claim, its_own_token_in_another_state_is_not_a_key_to_execute) {
  for (const auto state : {record_state::revoked, record_state::unknown}) {
    script s;
    s.start();
    s.reply_with(silence());
    EXPECT_EQ(s.reply_with(found(s.own_record(state), 10s)), next::refuse);
  }
}

TEST(engine_claim, a_foreign_record_is_refused_as_store_unavailable_also_where_bypassing_is_allowed) {
  for (const auto policy : {config::store_error_policy::reject, config::store_error_policy::allow}) {
    auto route = careful_route();
    route.on_store_error = policy;
    script s(route);
    s.start();
    ASSERT_EQ(s.reply_with(found("i2 something else", 1000)), next::refuse);
    EXPECT_EQ(s.e.refusal().code, problem_code::store_unavailable);
  }
}

TEST(engine_claim, a_damaged_record_is_neither_executed_nor_served) {
  auto route = repeating_route();
  route.on_store_error = config::store_error_policy::allow;
  script s(route);
  s.start();
  auto text = encode(other_record(record_state::succeeded));
  text.back() ^= 1;
  ASSERT_EQ(s.reply_with(found(text, 1000)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::answer_not_kept);
  EXPECT_EQ(s.e.refusal().status, 409u);
}

TEST(engine_claim, allow_goes_on_without_a_store_that_gives_no_reply_or_takes_no_write) {
  for (const auto& last : {silence(), unreachable(), plain(verdict::refused)}) {
    auto route = careful_route();
    route.on_store_error = config::store_error_policy::allow;
    script s(route);
    s.start();
    s.reply_with(silence());
    EXPECT_EQ(s.reply_with(last), next::bypass);
  }
}

TEST(engine_claim, allow_does_not_go_on_once_a_record_was_read) {
  auto route = repeating_route();
  route.on_store_error = config::store_error_policy::allow;
  script s(route);
  s.start();
  ASSERT_EQ(s.reply_with(found(repeatable(other_record(record_state::processing)), hold)), next::submit);
  ASSERT_EQ(s.asked(), op::look);
  ASSERT_EQ(s.reply_with(unreachable()), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::store_unavailable);
  // nor in a later round of the same request
  s.start();
  EXPECT_EQ(s.reply_with(unreachable()), next::refuse);
}

TEST(engine_claim, allow_does_not_go_on_once_a_record_was_read_whose_claim_had_no_end) {
  auto route = careful_route();
  route.on_store_error = config::store_error_policy::allow;
  script s(route);
  s.start();
  auto r = silence();
  r.read = true;
  ASSERT_EQ(s.reply_with(r), next::submit);
  EXPECT_EQ(s.reply_with(silence()), next::refuse);
}

TEST(engine_claim, allow_does_not_go_on_when_its_own_key_turned_out_to_be_anothers) {
  auto route = careful_route();
  route.on_store_error = config::store_error_policy::allow;
  script s(route);
  s.claim();
  s.pass(lease);
  s.e.renew_before_send(s.now);
  ASSERT_EQ(s.reply_with(lost(other_record(record_state::processing))), next::submit);
  EXPECT_EQ(s.reply_with(unreachable()), next::refuse);
}

TEST(engine_claim, a_store_that_takes_no_writes_still_replays) {
  script s;
  s.start();
  auto r = found(other_record(record_state::succeeded), hold);
  r.write_refused = true;
  EXPECT_EQ(s.reply_with(std::move(r)), next::replay);
}

TEST(engine_claim, a_record_that_changes_under_every_look_ends_the_rounds) {
  script s(repeating_route());
  const auto lapsed = repeatable(other_record(record_state::processing));
  auto n = s.start();
  int steps = 0;
  for (; n == next::submit && steps < 100; ++steps) {
    n = s.reply_with(s.asked() == op::take_over ? lost(lapsed) : found(lapsed, hold));
  }
  EXPECT_EQ(n, next::refuse);
  EXPECT_LT(steps, 20);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
}

// ------------------------------------------------------------------------------------------------------------ no place

/// Without a place for one more call.
next start_without_place(script& s) { return s.e.start(s.now, wall, room::no); }

TEST(engine_without_a_place, claims_nothing_and_tells_a_new_key_that_it_is_busy) {
  script s;
  ASSERT_EQ(start_without_place(s), next::submit);
  EXPECT_EQ(s.asked(), op::look);
  ASSERT_EQ(s.reply_with(plain(verdict::absent)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::busy);
  EXPECT_EQ(s.e.refusal().retry_after, 1u);
  EXPECT_TRUE(s.e.refusal().safe_new_key);
}

TEST(engine_without_a_place, answers_from_a_record) {
  script s;
  start_without_place(s);
  EXPECT_EQ(s.reply_with(found(other_record(record_state::succeeded), hold)), next::replay);
  start_without_place(s);
  ASSERT_EQ(s.reply_with(found(other_record(record_state::processing), lease + hold)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
  auto other = other_record(record_state::succeeded);
  other.fingerprint = print_of(2);
  start_without_place(s);
  ASSERT_EQ(s.reply_with(found(other, hold)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::key_reused);
}

TEST(engine_without_a_place, takes_nothing_over_and_calls_no_new_key_safe) {
  for (const auto state : {record_state::unknown, record_state::processing}) {
    script s(repeating_route());
    start_without_place(s);
    ASSERT_EQ(s.reply_with(found(repeatable(other_record(state)), hold)), next::refuse);
    EXPECT_EQ(s.e.refusal().code, problem_code::busy);
    EXPECT_FALSE(s.e.refusal().safe_new_key) << "the attempt before may have executed";
  }
}

TEST(engine_without_a_place, is_not_let_past_a_store_that_does_not_answer) {
  auto route = careful_route();
  route.on_store_error = config::store_error_policy::allow;
  script s(route);
  start_without_place(s);
  ASSERT_EQ(s.reply_with(unreachable()), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::store_unavailable);
}

TEST(engine_without_a_place, does_not_take_the_record_of_a_token_that_it_gave_up_for_its_own) {
  script s;
  s.start();
  const auto before = s.own();
  s.reply_with(silence());
  s.reply_with(silence());
  start_without_place(s);
  ASSERT_EQ(s.reply_with(before), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
}

}  // namespace
}  // namespace idem::idempotency
