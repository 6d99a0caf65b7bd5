#include "store/redis/pipeline.hpp"

#include "unit/store/conversation.hpp"

namespace idem::store::redis {
namespace {

using namespace test;
using namespace std::chrono_literals;

class pipeline_of_commands : public testing::Test {
 protected:
  void submit(op what, const std::string& name, std::chrono::milliseconds deadline = 250ms) {
    command c;
    c.what = what;
    c.name = names.emplace_back(name);
    c.value = "v";
    c.expect = "o";
    p.submit(c, [](reply) {}, pipeline::time_point(deadline));
  }
  std::vector<std::string> take() {
    std::string bytes;
    p.take_output(bytes);
    auto lines = sent(bytes);
    for (auto& l : lines) l = l.substr(0, l.find(' '));
    return lines;
  }
  std::optional<finished> answer(resp_value v) {
    std::optional<finished> f;
    EXPECT_TRUE(p.on_reply(std::move(v), f));
    return f;
  }

  std::deque<std::string> names;
  pipeline p{"t:"};
};

using words = std::vector<std::string>;

TEST_F(pipeline_of_commands, writes_nothing_before_the_connection_is_open) {
  submit(op::claim, "a");
  submit(op::look, "b");
  EXPECT_FALSE(p.has_output());
  p.open(dialect::scripts);
  EXPECT_EQ(take(), (words{"SET", "GET", "PTTL", "EVALSHA"}));
}

TEST_F(pipeline_of_commands, gives_replies_to_commands_in_their_order) {
  p.open(dialect::scripts);
  submit(op::claim, "a");
  submit(op::complete, "b");
  take();
  EXPECT_FALSE(answer(status("OK")));
  EXPECT_FALSE(answer(text("v")));
  EXPECT_EQ(answer(number(5))->result.what, verdict::found);
  EXPECT_EQ(answer(array({number(3), text("x"), number(1)}))->result.what, verdict::lost);
  EXPECT_TRUE(p.idle());
}

TEST_F(pipeline_of_commands, a_script_that_is_sent_again_waits_behind_what_was_sent_meanwhile) {
  p.open(dialect::scripts);
  submit(op::complete, "a");
  submit(op::look, "b");
  take();
  EXPECT_FALSE(answer(error("NOSCRIPT x")));
  EXPECT_EQ(take(), words{"EVAL"});
  EXPECT_EQ(answer(array({number(5), text(""), number(-2)}))->result.what, verdict::absent);
  EXPECT_EQ(answer(array({number(0), text(""), number(5)}))->result.what, verdict::done);
}

TEST_F(pipeline_of_commands, a_reply_that_nobody_waits_for_is_not_accepted) {
  p.open(dialect::scripts);
  std::optional<finished> f;
  EXPECT_FALSE(p.on_reply(status("OK"), f));
}

TEST_F(pipeline_of_commands, only_what_was_handed_to_the_connection_counts_as_sent) {
  p.open(dialect::scripts);
  submit(op::claim, "a");
  take();
  submit(op::claim, "b");
  const auto all = p.shut();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].result.what, verdict::unavailable);
  EXPECT_TRUE(all[0].result.sent);
  EXPECT_FALSE(all[1].result.sent);
  EXPECT_FALSE(p.has_output()) << "nothing of the old connection goes to the next";
}

TEST_F(pipeline_of_commands, what_waited_for_a_connection_ends_unsent_at_its_deadline) {
  submit(op::claim, "a", 100ms);
  submit(op::claim, "b", 200ms);
  EXPECT_EQ(p.next_deadline(), pipeline::time_point(100ms));
  bool broken = true;
  const auto ended = p.expire(pipeline::time_point(150ms), broken);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_FALSE(ended[0].result.sent);
  EXPECT_FALSE(broken);
  EXPECT_EQ(p.next_deadline(), pipeline::time_point(200ms));
}

TEST_F(pipeline_of_commands, an_unanswered_command_condemns_the_connection) {
  p.open(dialect::scripts);
  submit(op::claim, "a", 100ms);
  take();
  bool broken = false;
  p.expire(pipeline::time_point(99ms), broken);
  EXPECT_FALSE(broken);
  p.expire(pipeline::time_point(100ms), broken);
  EXPECT_TRUE(broken);
}

TEST_F(pipeline_of_commands, transactions_go_one_at_a_time_and_claims_pass_them) {
  p.open(dialect::transactions);
  submit(op::complete, "a");
  submit(op::complete, "b");
  submit(op::claim, "c");
  EXPECT_EQ(take(), (words{"WATCH", "GET", "PTTL", "SET", "GET", "PTTL"}));
  answer(status("OK"));
  answer(nil());
  EXPECT_FALSE(answer(number(-2)));
  EXPECT_EQ(take(), (words{"MULTI", "SET", "EXEC"}));
  answer(status("OK"));
  answer(text("v"));
  EXPECT_EQ(answer(number(5))->result.what, verdict::found);
  answer(status("OK"));
  answer(status("QUEUED"));
  EXPECT_EQ(answer(array({status("OK")}))->result.what, verdict::recreated);
  EXPECT_EQ(take(), (words{"WATCH", "GET", "PTTL"}));
}

TEST_F(pipeline_of_commands, a_transaction_that_waits_for_another_is_unsent) {
  p.open(dialect::transactions);
  submit(op::complete, "a");
  submit(op::complete, "b");
  take();
  const auto all = p.shut();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].result.sent);
  EXPECT_FALSE(all[1].result.sent);
}

}  // namespace
}  // namespace idem::store::redis
