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
    claim_exchange e(c);
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

TEST_F(claim_of_a_name, finds_what_is_no_string_as_an_empty_foreign_value) {
  const auto s = play({nil(), error("WRONGTYPE Operation"), number(-1)});
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "");
  EXPECT_EQ(s.result.ttl, reply::no_expiry);
}

}  // namespace
}  // namespace idem::store::redis
