#include "unit/store/conversation.hpp"

namespace idem::store::redis {
namespace {

using namespace test;
using std::chrono::milliseconds;

class claim_of_a_name : public testing::Test {
 protected:
  step play(std::vector<resp_value> replies) {
    command c;
    c.what = op::claim;
    c.name = "n";
    c.value = "v";
    c.ttl = milliseconds(900);
    claim_exchange e(c, false);
    std::string out;
    e.begin(out);
    EXPECT_EQ(sent(out), (std::vector<std::string>{"SET n v NX PX 900", "GET n", "PTTL n"}));
    auto s = test::play(e, out, std::move(replies));
    EXPECT_EQ(s.what, step::kind::finished);
    EXPECT_TRUE(out.empty());
    return s;
  }
};

TEST_F(claim_of_a_name, finds_the_own_value_that_was_written) {
  const auto s = play({status("OK"), text("v"), number(900)});
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "v");
  EXPECT_EQ(s.result.ttl, 900);
  EXPECT_TRUE(s.took_write);
}

TEST_F(claim_of_a_name, goes_by_GET_even_when_SET_wrote_nothing) {
  const auto s = play({nil(), text("v"), number(10)});
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "v");
  EXPECT_TRUE(s.took_write) << "NX is looked at after the refusals";
}

TEST_F(claim_of_a_name, goes_by_GET_even_when_SET_wrote) {
  EXPECT_EQ(play({status("OK"), text("another"), number(10)}).result.value, "another");
  EXPECT_EQ(play({status("OK"), nil(), number(-2)}).result.what, verdict::absent);
}

TEST_F(claim_of_a_name, reports_a_record_that_ended_between_the_steps) {
  EXPECT_EQ(play({nil(), nil(), number(-2)}).result.what, verdict::absent);
  const auto s = play({nil(), text("x"), number(-2)});
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.ttl, reply::no_record);
}

TEST_F(claim_of_a_name, is_refused_where_nothing_stands_and_the_server_takes_no_writes) {
  for (const auto* e : {"OOM command not allowed", "MISCONF Redis is configured", "NOREPLICAS Not enough"}) {
    const auto s = play({error(e), nil(), number(-2)});
    EXPECT_EQ(s.result.what, verdict::refused) << e;
    EXPECT_FALSE(s.result.sent);
  }
}

TEST_F(claim_of_a_name, shows_what_stands_while_the_server_takes_no_writes) {
  const auto s = play({error("OOM command not allowed"), text("x"), number(5)});
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "x");
  EXPECT_TRUE(s.result.write_refused);
  EXPECT_EQ(s.fault, server_error::full);
  EXPECT_FALSE(s.took_write);
}

TEST_F(claim_of_a_name, believes_no_replica_and_no_server_that_is_not_serving) {
  for (const auto* e : {"READONLY You can't write", "LOADING Redis is", "MASTERDOWN Link", "NOAUTH Authentication",
                        "NOPERM no", "CLUSTERDOWN x", "MOVED 1 h:1", "ERR unknown"}) {
    const auto s = play({error(e), text("x"), number(5)});
    EXPECT_EQ(s.result.what, verdict::unavailable) << e;
    EXPECT_EQ(s.result.sent, std::string_view(e).starts_with("ERR")) << e;
  }
}

TEST_F(claim_of_a_name, may_still_stand_when_only_GET_failed) {
  EXPECT_TRUE(play({status("OK"), error("NOPERM no"), number(5)}).result.sent);
  EXPECT_TRUE(play({nil(), error("LOADING"), error("LOADING")}).result.sent);
  EXPECT_FALSE(play({error("LOADING"), error("LOADING"), error("LOADING")}).result.sent);
}

TEST_F(claim_of_a_name, keeps_what_it_has_read_when_only_its_time_is_not_told) {
  const auto s = play({nil(), text("x"), error("NOPERM no")});
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "x");
  EXPECT_EQ(s.result.ttl, reply::not_asked);
  EXPECT_EQ(s.fault, server_error::denied);
}

TEST_F(claim_of_a_name, finds_what_is_no_string_as_an_empty_foreign_value) {
  const auto s = play({nil(), error("WRONGTYPE Operation"), number(-1)});
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "");
  EXPECT_EQ(s.result.ttl, reply::no_expiry);
}

// The other half of the table, where the server's SET takes NX and GET together.
class claim_in_one_step : public testing::Test {
 protected:
  claim_in_one_step() { begin(); }
  void begin() {
    c_.what = op::claim;
    c_.name = "n";
    c_.value = "v";
    c_.ttl = milliseconds(900);
    e_.emplace(c_, true);
    e_->begin(out_);
    EXPECT_EQ(sent(out_), std::vector<std::string>{"SET n v NX GET PX 900"});
  }
  step on(resp_value v) { return e_->on_reply(std::move(v), out_); }
  std::vector<std::string> asked() { return sent(out_); }

 private:
  command c_;
  std::optional<claim_exchange> e_;
  std::string out_;
};

TEST_F(claim_in_one_step, that_found_nothing_has_written_its_own) {
  const auto s = on(nil());
  EXPECT_EQ(s.what, step::kind::finished);
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "v");
  EXPECT_EQ(s.result.ttl, 900);
  EXPECT_TRUE(s.took_write);
  EXPECT_TRUE(asked().empty());
}

TEST_F(claim_in_one_step, finds_what_stands_without_its_time_to_live) {
  const auto s = on(text("i1 P 0001 x"));
  EXPECT_EQ(s.what, step::kind::finished);
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "i1 P 0001 x");
  EXPECT_EQ(s.result.ttl, reply::not_asked);
  EXPECT_TRUE(s.took_write) << "NX is looked at after the refusals";
  EXPECT_TRUE(asked().empty());
}

TEST_F(claim_in_one_step, that_was_refused_asks_what_stands) {
  EXPECT_EQ(on(error("OOM command not allowed")).what, step::kind::again);
  EXPECT_EQ(asked(), (std::vector<std::string>{"GET n", "PTTL n"}));
  EXPECT_EQ(on(text("x")).what, step::kind::more);
  const auto s = on(number(5));
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "x");
  EXPECT_EQ(s.result.ttl, 5);
  EXPECT_TRUE(s.result.write_refused);
  EXPECT_EQ(s.fault, server_error::full);
  EXPECT_FALSE(s.took_write);
}

TEST_F(claim_in_one_step, is_refused_where_nothing_stands_and_the_server_takes_no_writes) {
  on(error("MISCONF Redis is configured"));
  on(nil());
  const auto s = on(number(-2));
  EXPECT_EQ(s.result.what, verdict::refused);
  EXPECT_FALSE(s.result.sent);
}

TEST_F(claim_in_one_step, believes_no_replica) {
  const auto s = on(error("READONLY You can't write"));
  EXPECT_EQ(s.result.what, verdict::unavailable);
  EXPECT_FALSE(s.result.sent);
}

TEST_F(claim_in_one_step, takes_no_other_reply_for_its_own_record) {
  for (const auto& odd : {status("OK"), number(1), array({nil()})}) {
    begin();
    const auto s = on(odd);
    EXPECT_EQ(s.what, step::kind::finished);
    EXPECT_EQ(s.result.what, verdict::unavailable);
    EXPECT_TRUE(s.result.sent);
  }
}

TEST_F(claim_in_one_step, goes_in_three_where_the_server_does_not_know_it_after_all) {
  EXPECT_EQ(on(error("ERR syntax error")).what, step::kind::again);
  EXPECT_EQ(asked(), (std::vector<std::string>{"SET n v NX PX 900", "GET n", "PTTL n"}));
  EXPECT_EQ(on(status("OK")).what, step::kind::more);
  EXPECT_EQ(on(text("v")).what, step::kind::more);
  EXPECT_EQ(on(number(900)).result.value, "v");
}

TEST_F(claim_in_one_step, finds_what_is_no_string_as_an_empty_foreign_value) {
  const auto s = on(error("WRONGTYPE Operation"));
  EXPECT_EQ(s.what, step::kind::finished);
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "");
  EXPECT_FALSE(s.fault);
}

}  // namespace
}  // namespace idem::store::redis
