#include "store/redis/pipeline.hpp"

#include "store/redis/scripts.hpp"
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
  /// The only command that the reply ended, if it ended one.
  std::optional<finished> answer(resp_value v) {
    auto ended = answer_group(std::move(v));
    EXPECT_LE(ended.size(), 1u);
    return ended.empty() ? std::nullopt : std::optional(std::move(ended[0]));
  }
  finished_commands answer_group(resp_value v) {
    finished_commands ended;
    EXPECT_TRUE(p.on_reply(std::move(v), ended));
    return ended;
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

TEST_F(pipeline_of_commands, reads_in_the_same_round_trip_while_the_server_refuses_writes) {
  p.open(dialect::scripts_and_set_get);
  submit(op::claim, "a");
  submit(op::claim, "b");
  EXPECT_EQ(take(), (words{"SET", "SET"}));
  EXPECT_FALSE(answer(error("OOM x"))) << "a";
  EXPECT_EQ(take(), (words{"GET", "PTTL"}));
  EXPECT_TRUE(answer(text("x"))) << "b";
  EXPECT_FALSE(answer(text("x")));
  EXPECT_TRUE(answer(number(5))) << "a";
  submit(op::claim, "c");
  EXPECT_EQ(take(), (words{"SET", "GET", "PTTL"}));
  answer(status("OK"));
  answer(text("v"));
  EXPECT_TRUE(answer(number(5)));
  submit(op::claim, "d");
  EXPECT_EQ(take(), words{"SET"}) << "it takes writes again";
}

TEST_F(pipeline_of_commands, tells_of_a_claim_without_an_end_whether_it_had_seen_a_record) {
  for (const bool seen : {true, false}) {
    p.open(dialect::scripts);
    submit(op::claim, "a");
    take();
    answer(nil());
    answer(text(seen ? "x" : "v"));
    const auto ended = p.shut();
    ASSERT_EQ(ended.size(), 1u);
    EXPECT_EQ(ended[0].result.what, verdict::unavailable);
    EXPECT_TRUE(ended[0].result.sent);
    EXPECT_EQ(ended[0].result.read, seen) << "its own is nobody's";
  }
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
  finished_commands ended;
  EXPECT_FALSE(p.on_reply(status("OK"), ended));
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

TEST_F(pipeline_of_commands, completions_of_a_turn_go_in_one_call) {
  p.open(dialect::scripts);
  submit(op::complete, "a");
  submit(op::claim, "b");
  submit(op::complete, "c");
  EXPECT_TRUE(p.has_output());
  std::string bytes;
  p.take_output(bytes);
  const auto lines = sent(bytes);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[3], "EVALSHA " + completions_script().sha1 + " 2 a c i1 P o v 1 i1 P o v 1");
  answer(status("OK"));
  answer(text("v"));
  EXPECT_EQ(answer(number(5))->result.what, verdict::found);
  const auto ended = answer_group(number(code_done));
  ASSERT_EQ(ended.size(), 2u);
  for (const auto& f : ended) {
    EXPECT_EQ(f.result.what, verdict::done);
    EXPECT_TRUE(f.took_write);
  }
  EXPECT_TRUE(p.idle());
}

TEST_F(pipeline_of_commands, each_of_a_group_ends_as_its_own_script_says) {
  p.open(dialect::scripts);
  for (const auto* name : {"a", "b", "c", "d"}) submit(op::complete, name);
  take();
  const auto ended = answer_group(array({number(1), array({number(code_lost), text("x"), number(7)}), number(3),
                                         error("OOM x"), number(4), status("what")}));
  ASSERT_EQ(ended.size(), 4u);
  EXPECT_EQ(ended[0].result.what, verdict::lost);
  EXPECT_EQ(ended[0].result.value, "x");
  EXPECT_EQ(ended[0].result.ttl, 7);
  EXPECT_FALSE(ended[0].took_write);
  EXPECT_EQ(ended[1].result.what, verdict::done);
  EXPECT_TRUE(ended[1].took_write);
  EXPECT_EQ(ended[2].result.what, verdict::refused);
  EXPECT_TRUE(ended[2].fault.has_value());
  EXPECT_EQ(ended[3].result.what, verdict::unavailable);
  EXPECT_TRUE(ended[3].result.sent);
  EXPECT_TRUE(p.idle());
}

TEST_F(pipeline_of_commands, a_server_that_keeps_records_apart_is_asked_for_each_alone) {
  p.open(dialect::scripts);
  submit(op::complete, "a");
  submit(op::complete, "b");
  take();
  EXPECT_TRUE(answer_group(error("CROSSSLOT Keys in request don't hash to the same slot")).empty());
  EXPECT_EQ(take(), (words{"EVALSHA", "EVALSHA"}));
  EXPECT_EQ(answer(number(code_done))->result.what, verdict::done);
  EXPECT_EQ(answer(number(code_done))->result.what, verdict::done);
  submit(op::complete, "c");
  submit(op::complete, "d");
  EXPECT_EQ(take(), (words{"EVALSHA", "EVALSHA"})) << "it was told once";
  p.shut();
  p.open(dialect::scripts);
  submit(op::complete, "e");
  submit(op::complete, "f");
  EXPECT_EQ(take(), words{"EVALSHA"}) << "another server";
}

TEST_F(pipeline_of_commands, a_group_that_is_sent_again_waits_behind_what_was_sent_meanwhile) {
  p.open(dialect::scripts);
  submit(op::complete, "a");
  submit(op::complete, "b");
  EXPECT_EQ(take(), words{"EVALSHA"});
  submit(op::look, "c");
  EXPECT_EQ(take(), words{"EVALSHA"});
  EXPECT_FALSE(answer(error("NOSCRIPT x")));
  EXPECT_EQ(take(), words{"EVAL"});
  EXPECT_EQ(answer(array({number(code_absent), text(""), number(-2)}))->result.what, verdict::absent);
  const auto ended = answer_group(error("NOSCRIPT x"));
  ASSERT_EQ(ended.size(), 2u) << "a server that does not know the text either will not";
  EXPECT_EQ(ended[0].result.what, verdict::unavailable);
  EXPECT_FALSE(ended[0].result.sent);
}

TEST_F(pipeline_of_commands, a_group_has_a_limit_and_no_large_answers_and_none_that_is_waited_for) {
  p.open(dialect::scripts);
  for (std::size_t i = 0; i < group_limit + 1; ++i) submit(op::complete, "n" + std::to_string(i));
  std::string bytes;
  p.take_output(bytes);
  EXPECT_NE(bytes.find("\r\n$2\r\n16\r\n"), std::string::npos);
  EXPECT_NE(bytes.find(script_of(op::complete).sha1), std::string::npos) << "the last one goes alone";
  submit(op::complete, "small");
  command large;
  large.what = op::complete;
  large.name = "large";
  const std::string value(group_value_limit + 1, 'v');
  large.value = value;
  p.submit(large, [](reply) {}, {});
  command waited = large;
  waited.name = "waited", waited.value = "v", waited.notify = true;
  p.submit(waited, [](reply) {}, {});
  EXPECT_EQ(take().size(), 3u);
}

TEST_F(pipeline_of_commands, a_command_on_a_gathered_record_goes_behind_the_group) {
  p.open(dialect::scripts);
  submit(op::complete, "a");
  submit(op::complete, "b");
  submit(op::look, "c");
  submit(op::look, "b");
  std::string bytes;
  p.take_output(bytes);
  const auto lines = sent(bytes);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find(" 1 c "), std::string::npos) << "another record need not wait";
  EXPECT_NE(lines[1].find(" 2 a b "), std::string::npos);
  EXPECT_NE(lines[2].find(" 1 b "), std::string::npos);
}

TEST_F(pipeline_of_commands, completions_that_waited_for_a_connection_go_in_one_call) {
  submit(op::complete, "a");
  submit(op::complete, "b");
  p.open(dialect::scripts);
  EXPECT_EQ(take(), words{"EVALSHA"});
}

TEST_F(pipeline_of_commands, a_group_whose_connection_ends_was_sent_whole_or_not_at_all) {
  p.open(dialect::scripts);
  submit(op::complete, "a");
  submit(op::complete, "b");
  take();
  submit(op::complete, "c");
  submit(op::complete, "d");
  const auto all = p.shut();
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].result.what, verdict::unavailable);
    EXPECT_EQ(all[i].result.sent, i < 2) << i;
  }
  EXPECT_FALSE(p.has_output());
}

TEST_F(pipeline_of_commands, what_was_gathered_ends_unsent_at_its_deadline) {
  p.open(dialect::scripts);
  submit(op::complete, "a", 100ms);
  submit(op::complete, "b", 200ms);
  EXPECT_EQ(p.next_deadline(), pipeline::time_point(100ms));
  bool broken = true;
  const auto ended = p.expire(pipeline::time_point(150ms), broken);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_FALSE(ended[0].result.sent);
  EXPECT_FALSE(broken);
  EXPECT_EQ(take(), words{"EVALSHA"}) << "the other one";
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
