// What is owed to the store after an exchange, against a store that is written here.
#include "proxy/aftermath.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "idem/net/event.hpp"
#include "proxy/waiters.hpp"
#include "written_store.hpp"

namespace {

using namespace std::chrono_literals;
namespace proxy = idem::proxy;
using namespace idem::proxy::testing;
using idem::idempotency::record_state;

/// A claim whose two tries had no reply, and which therefore is given up.
class a_token_that_is_given_up : public on_a_worker {
 protected:
  a_token_that_is_given_up() {
    route_.lease = 300ms;
    records_.answer = [](const command_seen&) { return silence(); };
    idem::idempotency::engine::setup setup;
    setup.route = &route_;
    setup.name = "idem:{name}";
    claim_ = std::make_shared<proxy::claim>(worker_, nullptr, std::move(setup));
    auto& engine = claim_->engine;
    for (auto n = engine.start(lease_clock::now(), 0); n == idem::idempotency::next::submit;)
      n = engine.resume(silence(), lease_clock::now(), 0);
    engine.give_up();
    until_ = engine.abandoned_tokens().front().until;
  }

  void release() { worker_.aftermath->release_abandoned(claim_); }
  void run_until_nothing_is_owed() {
    const auto limit = std::chrono::steady_clock::now() + 10s;
    do worker_.io.run_one_for(100ms);
    while (worker_.aftermath->pending() > 0 && std::chrono::steady_clock::now() < limit);
    EXPECT_EQ(worker_.aftermath->pending(), 0u);
  }

  idem::config::idempotency_config route_;
  std::shared_ptr<proxy::claim> claim_;
  lease_clock::time_point until_;
};

TEST_F(a_token_that_is_given_up, is_released_once_more_when_nothing_of_it_can_land_any_more) {
  records_.answer = [](const command_seen&) { return done(); };
  release();
  run_until_nothing_is_owed();
  ASSERT_GT(records_.seen.size(), 2u);
  for (const auto& c : records_.seen) {
    EXPECT_EQ(c.what, op::release);
    EXPECT_EQ(c.expect, claim_->engine.own().text());
  }
  EXPECT_GE(records_.seen.back().at, until_) << "a claim could land behind the last release";
  EXPECT_LT(records_.seen[records_.seen.size() - 2].at, until_) << "and that one is enough";
}

TEST_F(a_token_that_is_given_up, is_released_when_a_store_is_back_that_was_away_for_many_leases) {
  const auto back = until_ + 12 * route_.lease;
  records_.answer = [back](const command_seen& c) { return c.at < back ? reply{} : done(); };
  release();
  run_until_nothing_is_owed();
  ASSERT_FALSE(records_.seen.empty());
  EXPECT_GE(records_.seen.back().at, back);
}

TEST_F(a_token_that_is_given_up, is_released_for_a_lease_more_after_a_store_that_stood_and_may_still_hold_its_claim) {
  const auto back = until_ + route_.lease;
  lease_clock::time_point last_silence;
  records_.answer = [&](const command_seen& c) {
    if (c.at >= back) return done();
    last_silence = c.at;
    return silence();
  };
  release();
  run_until_nothing_is_owed();
  ASSERT_FALSE(records_.seen.empty());
  EXPECT_GT(last_silence, until_);
  EXPECT_GE(records_.seen.back().at, last_silence + route_.lease);
}

TEST_F(a_token_that_is_given_up, is_released_once_more_and_then_left_when_the_process_ends) {
  release();
  worker_.io.poll();
  ASSERT_EQ(records_.seen.size(), 1u);
  shared_.stopping = true;
  worker_.aftermath->hurry();
  EXPECT_EQ(records_.seen.size(), 2u) << "it does not rest any longer";
  EXPECT_EQ(worker_.aftermath->pending(), 0u);
}

/// A claim that is owned, and whose answer the store did not take.
class an_answer_that_is_owed : public a_token_that_is_given_up {
 protected:
  explicit an_answer_that_is_owed(std::string_view body = "ok") {
    auto& engine = claim_->engine;
    engine.start(lease_clock::now(), 0);
    engine.resume({verdict::found, std::string(engine.pending().value), 1, false, false}, lease_clock::now(), 0);
    engine.complete(idem::idempotency::record_state::succeeded, {200, "OK\r\nA: b\r\n", body});
    engine.resume(silence(), lease_clock::now(), 0);
    worker_.aftermath->keep_settling(claim_, body.size());
    worker_.io.poll();
  }

  /// What waits for the next try must not be waiting for it when all of this goes.
  void TearDown() override {
    records_.answer = [](const command_seen&) { return done(); };
    worker_.aftermath->hurry();
    EXPECT_EQ(worker_.aftermath->pending(), 0u);
  }

  /// One more try, now.
  idem::idempotency::decoded_record tried() {
    worker_.aftermath->hurry();
    return idem::idempotency::decode(records_.seen.back().value);
  }
};

class a_large_answer_that_is_owed : public an_answer_that_is_owed {
 protected:
  a_large_answer_that_is_owed() : an_answer_that_is_owed(std::string(100 * 1024, 'x')) {}
};

TEST_F(an_answer_that_is_owed, is_tried_at_once_when_the_process_ends_and_again_while_it_can) {
  ASSERT_EQ(worker_.aftermath->pending(), 1u);
  ASSERT_TRUE(records_.seen.empty()) << "it rests before the first try";
  shared_.stopping = true;
  worker_.aftermath->hurry();
  ASSERT_EQ(records_.seen.size(), 1u);
  EXPECT_EQ(records_.seen.back().what, op::complete);
  EXPECT_EQ(worker_.aftermath->pending(), 1u);
  records_.answer = [](const command_seen&) { return done(); };
  run_until_nothing_is_owed();
  EXPECT_EQ(records_.seen.size(), 2u);
}

TEST_F(an_answer_that_is_owed, is_counted_until_it_is_settled) {
  const auto backlog = [&] { return metrics_.worker(0).backlog.load(); };
  EXPECT_EQ(backlog(), 1);
  EXPECT_FALSE(shared_.unfinished.wait_until(std::chrono::steady_clock::now()));
  records_.answer = [](const command_seen&) { return done(); };
  run_until_nothing_is_owed();
  EXPECT_EQ(backlog(), 0);
  EXPECT_TRUE(shared_.unfinished.wait_until(std::chrono::steady_clock::now()));
}

TEST_F(an_answer_that_is_owed, is_counted_no_more_when_an_exception_has_ended_its_tries) {
  records_.answer = [](const command_seen&) -> reply { throw std::bad_alloc(); };
  run_until_nothing_is_owed();
  EXPECT_EQ(metrics_.worker(0).backlog.load(), 0);
  EXPECT_TRUE(shared_.unfinished.wait_until(std::chrono::steady_clock::now()));
}

TEST_F(an_answer_that_is_owed, tells_of_a_record_that_the_store_has_lost_only_where_it_had_one) {
  const auto settle = [&] {
    records_.answer = [](const command_seen&) {
      reply r;
      r.what = verdict::recreated;
      return r;
    };
    tried();
    EXPECT_EQ(worker_.aftermath->pending(), 0u);
    return metrics_.worker(0).recreated.load();
  };
  ASSERT_TRUE(claim_->remember_name(true));
  EXPECT_EQ(settle(), 0u) << "it was let past the store";
  worker_.aftermath->keep_settling(claim_, 2);
  worker_.io.poll();
  EXPECT_EQ(settle(), 1u);
}

TEST_F(an_answer_that_is_owed, is_asked_after_without_reading_what_stands_there) {
  tried();
  EXPECT_TRUE(records_.seen.back().blind);
}

TEST_F(an_answer_that_is_owed, stays_the_whole_answer_however_often_a_try_has_no_reply) {
  for (int i = 0; i < 8; ++i) EXPECT_EQ(tried().value.state, record_state::succeeded) << "it would not get smaller";
}

TEST_F(a_large_answer_that_is_owed, becomes_done_without_its_body_when_four_tries_had_no_reply) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(tried().value.state, record_state::succeeded);
  for (int i = 0; i < 2; ++i) {
    const auto last = tried();
    EXPECT_EQ(last.value.state, record_state::without_body);
    EXPECT_EQ(last.value.status, 200u);
    EXPECT_EQ(last.value.header_block, "OK\r\nA: b\r\n");
    EXPECT_EQ(last.value.body, "");
    EXPECT_EQ(records_.seen.back().expect, claim_->engine.own().text());
  }
  records_.answer = [](const command_seen&) { return done(); };
  tried();
  EXPECT_EQ(worker_.aftermath->pending(), 0u);
}

TEST_F(a_large_answer_that_is_owed, stays_whole_while_the_store_is_away_or_refuses) {
  reply refused;
  refused.what = verdict::refused;
  for (int i = 0; i < 8; ++i) {
    records_.answer = [&](const command_seen&) { return i % 2 == 0 ? reply{} : refused; };
    EXPECT_EQ(tried().value.state, record_state::succeeded);
  }
}

TEST_F(a_large_answer_that_is_owed, rests_longer_after_a_try_without_a_reply_than_while_the_store_is_away) {
  const auto tries_in = [&](std::chrono::milliseconds time) {
    const auto before = records_.seen.size();
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) worker_.io.run_one_for(20ms);
    return records_.seen.size() - before;
  };
  for (int i = 0; i < 3; ++i) tried();
  EXPECT_EQ(tries_in(1500ms), 0u) << "two seconds at least";
  records_.answer = [](const command_seen&) { return reply{}; };
  tried();
  EXPECT_GE(tries_in(1500ms), 2u);
}

class what_goes_on_behind_exchanges : public on_a_worker {
 protected:
  static idem::net::task<void> until(idem::net::event& e) {
    if (!e.is_set()) co_await e.wait();
  }
  void begin_one() {
    worker_.aftermath->see_through(until(ends_.emplace_back()));
    worker_.io.poll();
  }
  void end_all() {
    for (auto& e : ends_) e.set();
  }

  std::deque<idem::net::event> ends_;
};

TEST_F(what_goes_on_behind_exchanges, is_pending_until_it_ends) {
  begin_one();
  begin_one();
  EXPECT_EQ(worker_.aftermath->pending(), 2u);
  ends_.front().set();
  EXPECT_EQ(worker_.aftermath->pending(), 1u);
  end_all();
  EXPECT_EQ(worker_.aftermath->pending(), 0u);
}

TEST_F(what_goes_on_behind_exchanges, crowds_in_bounded_number_and_leaves_room_for_answers_that_are_owed) {
  for (int i = 0; i < 100'000 && !worker_.aftermath->crowded(); ++i) begin_one();
  EXPECT_TRUE(worker_.aftermath->crowded());
  EXPECT_GE(ends_.size(), 500u);
  idem::config::idempotency_config route;
  idem::idempotency::engine::setup setup;
  setup.route = &route;
  setup.name = "idem:{name}";
  const auto before = worker_.aftermath->pending();
  worker_.aftermath->keep_settling(std::make_shared<proxy::claim>(worker_, nullptr, std::move(setup)), 1);
  worker_.io.poll();
  EXPECT_EQ(worker_.aftermath->pending(), before + 1);
  end_all();
  EXPECT_FALSE(worker_.aftermath->crowded());
  records_.answer = [](const command_seen&) { return done(); };
  worker_.aftermath->hurry();
  EXPECT_EQ(worker_.aftermath->pending(), 0u) << "what rests must be told before its worker goes";
}

}  // namespace
