// The lease of a claim, against a store that is written here.
#include "proxy/claim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "idem/net/task.hpp"
#include "proxy/aftermath.hpp"
#include "proxy/waiters.hpp"
#include "written_store.hpp"

namespace {

using namespace std::chrono_literals;
using namespace idem::proxy::testing;
namespace net = idem::net;
namespace proxy = idem::proxy;
using idem::idempotency::next;
using idem::idempotency::room;

class a_claim : public on_a_worker {
 protected:
  a_claim() {
    records_.answer = [this](const command_seen& c) {
      if (c.what != op::claim) return done();
      return reply{verdict::found, std::string(claim_->engine.pending().value), 1, false, false};
    };
    claim_ = make();
    auto& engine = claim_->engine;
    engine.start(lease_clock::now(), 0);
    engine.resume({verdict::found, std::string(engine.pending().value), 1, false, false}, lease_clock::now(), 0);
  }
  ~a_claim() override {
    while (!records_.held.empty()) records_.answer_next();
  }

  std::shared_ptr<proxy::claim> make() {
    idem::idempotency::engine::setup setup;
    setup.route = &route_;
    setup.name = "idem:{name}";
    return std::make_shared<proxy::claim>(worker_, nullptr, std::move(setup));
  }
  /// What came of it is in came_of_it_, once it is there.
  void renew_now() {
    came_of_it_.reset();
    net::spawn(worker_.io.get_executor(), [](proxy::claim& c, std::optional<next>& to) -> net::task<void> {
      to = co_await c.renew_now();
    }(*claim_, came_of_it_));
    worker_.io.poll();
  }
  auto renewals() const {
    return std::count_if(records_.seen.begin(), records_.seen.end(), [](auto& c) { return c.what == op::renew; });
  }

  idem::config::idempotency_config route_;
  std::shared_ptr<proxy::claim> claim_;
  std::optional<next> came_of_it_;
};

TEST_F(a_claim, that_must_renew_before_it_sends_waits_for_the_renewal_that_is_under_way) {
  records_.holds_back = true;
  claim_->start_renewing();
  claim_->renew_soon();
  ASSERT_EQ(renewals(), 1);
  renew_now();
  EXPECT_EQ(renewals(), 1) << "there is one at a time";
  EXPECT_FALSE(came_of_it_);
  records_.answer_next();
  EXPECT_EQ(came_of_it_, next::execute);
  EXPECT_TRUE(claim_->engine.may_send(lease_clock::now()));
}

TEST_F(a_claim, renews_itself_before_it_sends_when_the_renewal_that_was_under_way_came_to_nothing) {
  records_.holds_back = true;
  claim_->start_renewing();
  claim_->renew_soon();
  renew_now();
  records_.answer = [](const command_seen&) { return silence(); };
  records_.answer_next();
  ASSERT_EQ(came_of_it_, next::execute) << "the lease is asked again, and has not been renewed";
  records_.answer = [](const command_seen&) { return done(); };
  renew_now();
  EXPECT_EQ(renewals(), 2);
  records_.answer_next();
  EXPECT_EQ(came_of_it_, next::execute);
}

TEST_F(a_claim, that_took_long_is_renewed_so_much_sooner) {
  route_.lease = 60s;
  auto& engine = claim_->engine;
  engine.start(lease_clock::now() - 30s, 0);
  engine.resume({verdict::found, std::string(engine.pending().value), 1, false, false}, lease_clock::now(), 0);
  ASSERT_TRUE(engine.may_send(lease_clock::now()));
  claim_->start_renewing();
  const auto limit = std::chrono::steady_clock::now() + 10s;
  while (renewals() == 0 && std::chrono::steady_clock::now() < limit) worker_.io.run_one_for(100ms);
  EXPECT_EQ(renewals(), 1);
}

TEST_F(a_claim, has_its_record_from_the_first_renewal_that_is_answered_when_it_was_let_past_the_store) {
  ASSERT_TRUE(claim_->remember_name(true));
  const auto another = make();
  EXPECT_TRUE(another->runs_past_store());
  records_.answer = [](const command_seen&) { return silence(); };
  claim_->start_renewing();
  claim_->renew_soon();
  EXPECT_FALSE(claim_->stands_in_store());
  EXPECT_TRUE(another->runs_past_store());
  records_.answer = [](const command_seen&) {
    reply r;
    r.what = verdict::recreated;
    return r;
  };
  claim_->renew_soon();
  EXPECT_TRUE(claim_->stands_in_store());
  EXPECT_FALSE(another->runs_past_store()) << "the record tells others";
  EXPECT_EQ(metrics_.worker(0).recreated.load(), 0u) << "the store has lost nothing";
}

TEST_F(a_claim, takes_a_place_only_while_there_is_one) {
  const auto another = make();
  EXPECT_EQ(claim_->room_left(1), room::yes);
  EXPECT_TRUE(claim_->take_place(1));
  EXPECT_TRUE(claim_->take_place(1)) << "it has it already";
  EXPECT_EQ(another->room_left(1), room::no);
  EXPECT_FALSE(another->take_place(1));
  EXPECT_EQ(shared_.in_flight.load(), 1u);
  claim_->end_flight();
  EXPECT_TRUE(another->take_place(1));
}

}  // namespace
