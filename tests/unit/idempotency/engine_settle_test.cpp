// The end of an attempt: storing the answer, releasing or declaring, and tokens that are given up.
#include "engine_fixture.hpp"

namespace idem::idempotency {
namespace {

using namespace testing;

const answer created{201, "Created\r\nLocation: /1\r\n", "{}"};

settled_as settle(script& s, next n, reply r) {
  EXPECT_EQ(n, next::submit);
  EXPECT_EQ(s.reply_with(std::move(r)), next::settled);
  return s.e.settlement_result();
}

TEST(engine_settle, completing_writes_the_answer_for_the_retention) {
  auto route = careful_route();
  route.retention = 2h;
  script s(route);
  s.claim();
  ASSERT_EQ(s.e.complete(record_state::succeeded, created), next::submit);
  EXPECT_EQ(s.asked(), op::complete);
  EXPECT_EQ(s.e.pending().ttl, 2h);
  EXPECT_EQ(s.e.pending().expect, s.e.own().text());
  const auto r = s.wrote();
  EXPECT_EQ(r.state, record_state::succeeded);
  EXPECT_EQ(r.owner, s.e.own());
  EXPECT_EQ(r.status, 201u);
  EXPECT_EQ(r.header_block, created.header_block);
  EXPECT_EQ(r.body, "{}");
}

TEST(engine_settle, every_verdict_has_its_result) {
  const auto result_of = [](reply r) {
    script s;
    s.claim();
    return settle(s, s.e.complete(record_state::succeeded, created), std::move(r));
  };
  EXPECT_EQ(result_of(plain(verdict::done)), settled_as::stored);
  EXPECT_EQ(result_of(plain(verdict::recreated)), settled_as::recreated);
  EXPECT_EQ(result_of(already(other_record(record_state::failed_final))), settled_as::already);
  EXPECT_EQ(result_of(lost(other_record(record_state::succeeded))), settled_as::superseded);
  EXPECT_EQ(result_of(plain(verdict::refused)), settled_as::not_stored);
  EXPECT_EQ(result_of(silence()), settled_as::not_stored);
  EXPECT_EQ(result_of(unreachable()), settled_as::not_stored);
}

TEST(engine_settle, a_command_that_was_not_taken_is_the_same_when_it_is_tried_again) {
  script s;
  s.claim();
  s.e.complete(record_state::succeeded, created);
  const auto value = s.written();
  s.reply_with(silence());
  ASSERT_EQ(s.e.settle_again(), next::submit);
  EXPECT_EQ(s.asked(), op::complete);
  EXPECT_EQ(s.written(), value);
  EXPECT_EQ(s.e.pending().expect, s.e.own().text());
}

TEST(engine_settle, a_try_without_a_reply_is_told_from_one_that_was_refused_or_never_sent) {
  script s;
  s.claim();
  s.e.complete(record_state::succeeded, created);
  for (const auto& [r, unanswered] :
       {std::pair{silence(), true}, {plain(verdict::refused), false}, {silence(), true}, {unreachable(), false}}) {
    s.reply_with(r);
    EXPECT_EQ(s.e.settlement_unanswered(), unanswered);
    s.e.settle_again();
  }
}

TEST(engine_settle, nothing_is_read_for_an_answer_that_is_owed_to_nobody_but_the_store) {
  script s;
  s.claim();
  s.e.complete(record_state::succeeded, created);
  EXPECT_FALSE(s.e.pending().blind) << "the client would get what stands there";
  const auto value = s.written();
  s.reply_with(silence());
  ASSERT_EQ(s.e.settle_unheard(), next::submit);
  EXPECT_TRUE(s.e.pending().blind);
  EXPECT_EQ(s.written(), value);
  EXPECT_EQ(settle(s, next::submit, plain(verdict::already)), settled_as::already);

  script releasing;
  releasing.claim();
  releasing.e.release();
  releasing.reply_with(silence());
  releasing.e.settle_unheard();
  EXPECT_FALSE(releasing.e.pending().blind) << "what stands there tells whether the first try has landed";
}

TEST(engine_settle, an_answer_that_does_not_get_through_becomes_done_without_its_body) {
  auto route = careful_route();
  route.retention = 2h;
  script s(route);
  s.claim();
  s.e.complete(record_state::failed_final, created);
  s.reply_with(silence());
  ASSERT_EQ(s.e.settle_without_body(), next::submit);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(s.asked(), op::complete);
    EXPECT_TRUE(s.e.pending().blind);
    EXPECT_EQ(s.e.pending().ttl, 2h);
    EXPECT_EQ(s.e.pending().expect, s.e.own().text());
    const auto r = s.wrote();
    EXPECT_EQ(r.state, record_state::without_body);
    EXPECT_EQ(r.status, 201u);
    EXPECT_EQ(r.header_block, created.header_block);
    EXPECT_EQ(r.body, "");
    s.reply_with(silence());
    s.e.settle_without_body();
  }

  script declaring;
  declaring.claim();
  declaring.e.declare();
  declaring.reply_with(silence());
  declaring.e.settle_without_body();
  EXPECT_EQ(declaring.asked(), op::declare) << "which has no answer";
}

TEST(engine_settle, finding_what_an_earlier_try_without_a_reply_wrote_is_success) {
  script completing;
  completing.claim();
  completing.e.complete(record_state::succeeded, created);
  completing.reply_with(silence());
  EXPECT_EQ(settle(completing, completing.e.settle_again(), {verdict::already, completing.written(), 1, false, false}),
            settled_as::stored);

  script declaring;
  declaring.claim();
  declaring.e.declare();
  declaring.reply_with(silence());
  EXPECT_EQ(settle(declaring, declaring.e.settle_again(), {verdict::lost, declaring.written(), 1, false, false}),
            settled_as::stored);

  script releasing;
  releasing.claim();
  releasing.e.release();
  releasing.reply_with(silence());
  EXPECT_EQ(settle(releasing, releasing.e.settle_again(), plain(verdict::lost)), settled_as::stored);
}

TEST(engine_settle, a_release_carries_an_unknown_outcome_for_attempts_that_followed_another) {
  script s(repeating_route());
  s.take_over();
  ASSERT_EQ(s.e.release(), next::submit);
  EXPECT_EQ(s.asked(), op::release);
  EXPECT_EQ(s.wrote().state, record_state::unknown);
  EXPECT_EQ(s.wrote().owner, s.e.own());
  EXPECT_EQ(s.e.pending().ttl, hold);
  EXPECT_EQ(s.e.pending().expect.substr(0, 5), "0002 ");
  EXPECT_EQ(settle(s, next::submit, plain(verdict::done)), settled_as::stored);
}

TEST(engine_settle, declaring_writes_an_unknown_outcome_for_the_hold) {
  script s;
  s.claim();
  ASSERT_EQ(s.e.declare(), next::submit);
  EXPECT_EQ(s.asked(), op::declare);
  EXPECT_EQ(s.wrote().state, record_state::unknown);
  EXPECT_EQ(s.e.pending().ttl, hold);
}

TEST(engine_settle, only_routes_that_may_repeat_declare_an_answer_that_was_cut_after_it_was_known_to_be_too_large) {
  for (const auto& route : {careful_route(), repeating_route()}) {
    script s(route);
    s.claim();
    EXPECT_EQ(settle(s, s.e.complete(record_state::without_body, {200, "OK\r\n", {}}), plain(verdict::done)),
              settled_as::stored);
    s.e.declare();
    EXPECT_EQ(s.e.pending().declare_x, route.guarantee == config::guarantee::at_least_once);
  }
}

TEST(engine_settle, settling_wakes_waiters_where_the_route_lets_them_wait) {
  auto route = careful_route();
  engine e({&route, "idem:{name}", print_of(1), nullptr, nullptr, true});
  e.start(time_point{}, wall);
  e.resume(found(std::string(e.pending().value), 1000), time_point{}, wall);
  e.complete(record_state::succeeded, created);
  EXPECT_TRUE(e.pending().notify);
  e.release();
  EXPECT_TRUE(e.pending().notify);
  e.declare();
  EXPECT_TRUE(e.pending().notify);
}

// --------------------------------------------------------------------------------------------- what stands there
// instead

next found_instead(script& s, reply r) {
  s.claim();
  settle(s, s.e.complete(record_state::succeeded, created), std::move(r));
  return s.e.answer_found();
}

TEST(engine_settle, the_stored_answer_is_the_answer) {
  for (const auto state : {record_state::succeeded, record_state::failed_final}) {
    script beaten, resolved;
    EXPECT_EQ(found_instead(beaten, lost(other_record(state))), next::replay);
    EXPECT_EQ(beaten.e.found().value.body, "{}");
    EXPECT_EQ(found_instead(resolved, already(other_record(state))), next::replay);
  }
}

TEST(engine_settle, an_answer_that_was_not_kept_stays_so) {
  script plainly;
  EXPECT_EQ(found_instead(plainly, lost(other_record(record_state::without_body))), next::refuse);
  EXPECT_EQ(plainly.e.refusal().code, problem_code::answer_not_kept);
  auto route = careful_route();
  route.oversize = config::oversize_policy::status_only;
  script headed(route);
  EXPECT_EQ(found_instead(headed, lost(other_record(record_state::without_body))), next::status_only);
}

TEST(engine_settle, another_attempt_that_runs_is_in_progress_and_never_waited_for) {
  for (const auto respond : {config::in_flight_respond::conflict, config::in_flight_respond::wait}) {
    for (const auto state : {record_state::processing, record_state::revoked}) {
      auto route = careful_route();
      route.in_flight.respond = respond;
      script s(route);
      EXPECT_EQ(found_instead(s, lost(other_record(state, 2))), next::refuse);
      EXPECT_EQ(s.e.refusal().code, problem_code::in_progress);
    }
  }
}

TEST(engine_settle, an_unknown_outcome_is_not_executed_again) {
  script s(repeating_route());
  EXPECT_EQ(found_instead(s, lost(repeatable(other_record(record_state::unknown, 2)))), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::outcome_unknown);
}

TEST(engine_settle, an_unknown_outcome_can_be_retried_where_the_retry_takes_it_over) {
  const auto told = [](bool route_repeats, bool record_repeats) {
    script s(route_repeats ? repeating_route() : careful_route());
    auto theirs = other_record(record_state::unknown, 2);
    if (record_repeats) theirs = repeatable(theirs);
    found_instead(s, lost(theirs));
    EXPECT_EQ(s.e.refusal().retryable, s.e.refusal().retry_after.has_value());
    return s.e.refusal().retryable;
  };
  EXPECT_TRUE(told(true, true));
  EXPECT_FALSE(told(true, false));
  EXPECT_FALSE(told(false, true));
}

TEST(engine_settle, another_requests_record_is_a_mismatch) {
  auto theirs = other_record(record_state::succeeded);
  theirs.fingerprint = print_of(2);
  script s;
  EXPECT_EQ(found_instead(s, lost(theirs)), next::refuse);
  EXPECT_EQ(s.e.refusal().code, problem_code::key_reused);
}

TEST(engine_settle, what_cannot_be_read_is_not_served) {
  script foreign;
  EXPECT_EQ(found_instead(foreign, {verdict::lost, "i9 what", 1, false, false}), next::refuse);
  EXPECT_EQ(foreign.e.refusal().code, problem_code::store_unavailable);
  auto text = encode(other_record(record_state::succeeded));
  text.back() ^= 1;
  script damaged;
  EXPECT_EQ(found_instead(damaged, {verdict::lost, text, 1, false, false}), next::refuse);
  EXPECT_EQ(damaged.e.refusal().code, problem_code::answer_not_kept);
}

// ------------------------------------------------------------------------------------------------ tokens that are
// given up

TEST(engine_settle, a_token_with_an_unanswered_claim_is_released_until_a_lease_after_it) {
  script s;
  s.start();
  const auto token = s.e.own();
  s.pass(2s);
  s.reply_with(silence());
  const auto given_up = s.now;
  s.pass(1s);
  s.reply_with(found(other_record(record_state::succeeded), hold));
  s.e.give_up();
  ASSERT_EQ(s.e.abandoned_tokens().size(), 1u);
  EXPECT_EQ(s.e.abandoned_tokens()[0].token, token);
  EXPECT_EQ(s.e.abandoned_tokens()[0].until, given_up + lease);
  const auto& c = s.e.repeated_release(token);
  EXPECT_EQ(c.what, op::release);
  EXPECT_EQ(c.expect, token.text());
  EXPECT_EQ(decode(c.value).value.state, record_state::unknown);
  EXPECT_EQ(c.ttl, hold);
}

TEST(engine_settle, a_token_whose_commands_were_all_answered_is_not_abandoned) {
  script s;
  s.claim();
  s.e.renew_command(s.now);
  s.e.renewed(plain(verdict::done), s.now);
  settle(s, s.e.release(), plain(verdict::done));
  s.e.give_up();
  EXPECT_TRUE(s.e.abandoned_tokens().empty());
}

TEST(engine_settle, an_ordinary_release_is_repeated_after_an_unanswered_renewal) {
  script s;
  s.claim();
  s.pass(5s);
  s.e.renew_command(s.now);
  s.e.renewed(silence(), s.now);
  const auto unanswered = s.now;
  settle(s, s.e.release(), plain(verdict::done));
  s.e.give_up();
  ASSERT_EQ(s.e.abandoned_tokens().size(), 1u);
  EXPECT_EQ(s.e.abandoned_tokens()[0].until, unanswered + lease);
  s.e.give_up();
  EXPECT_EQ(s.e.abandoned_tokens().size(), 1u) << "given up once";
}

TEST(engine_settle, an_ordinary_release_is_repeated_while_a_renewals_reply_is_still_to_come) {
  script s;
  s.claim();
  s.pass(5s);
  s.e.renew_command(s.now);
  settle(s, s.e.release(), plain(verdict::done));
  s.e.give_up();
  ASSERT_EQ(s.e.abandoned_tokens().size(), 1u);
  EXPECT_EQ(s.e.abandoned_tokens()[0].until, s.now + lease);
}

TEST(engine_settle, a_release_that_the_store_did_not_take_is_repeated_with_the_token_given_up) {
  for (const auto& r : {silence(), unreachable(), plain(verdict::refused)}) {
    script s;
    s.claim();
    EXPECT_EQ(settle(s, s.e.release(), r), settled_as::not_stored);
    s.e.give_up();
    EXPECT_EQ(s.e.abandoned_tokens().size(), 1u);
  }
}

TEST(engine_settle, a_renewal_that_came_behind_the_release_is_released_again) {
  script s;
  s.claim();
  s.e.renew_command(s.now);
  settle(s, s.e.release(), plain(verdict::done));
  EXPECT_FALSE(s.e.renewed(plain(verdict::recreated), s.now)) << "nothing is renewed after a release";
  EXPECT_FALSE(s.e.record_vanished()) << "the store lost nothing";
  s.e.give_up();
  EXPECT_EQ(s.e.abandoned_tokens().size(), 1u);
}

TEST(engine_settle, a_take_over_gives_the_claims_token_up_and_a_lost_take_over_its_own) {
  const auto lapsed = repeatable(other_record(record_state::unknown));
  script s(repeating_route());
  s.start();
  const auto claimed = s.e.own();
  s.reply_with(silence());
  s.pass(lease);
  ASSERT_EQ(s.reply_with(found(lapsed, hold)), next::submit);
  ASSERT_EQ(s.asked(), op::take_over);
  ASSERT_EQ(s.e.abandoned_tokens().size(), 1u);
  EXPECT_EQ(s.e.abandoned_tokens()[0].token, claimed);
  const auto taken = s.e.own();
  ASSERT_EQ(s.reply_with(silence()), next::refuse);
  s.e.give_up();
  const auto all = s.e.take_abandoned_tokens();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].token, taken);
  EXPECT_EQ(all[1].token.attempt, 2);
  EXPECT_TRUE(s.e.abandoned_tokens().empty());
}

TEST(engine_settle, a_new_round_gives_the_token_of_the_last_one_up) {
  auto route = careful_route();
  route.in_flight.respond = config::in_flight_respond::wait;
  script s(route);
  s.start();
  const auto first = s.e.own();
  s.reply_with(silence());
  ASSERT_EQ(s.reply_with(found(other_record(record_state::processing), hold + 1ms)), next::wait);
  s.start();
  ASSERT_EQ(s.e.abandoned_tokens().size(), 1u);
  EXPECT_EQ(s.e.abandoned_tokens()[0].token, first);
}

}  // namespace
}  // namespace idem::idempotency
