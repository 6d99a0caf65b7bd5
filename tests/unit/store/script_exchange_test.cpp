#include "store/redis/scripts.hpp"
#include "unit/store/conversation.hpp"

namespace idem::store::redis {
namespace {

using namespace test;

command completion_of(bool notify) {
  command c;
  c.what = op::complete;
  c.name = "idem:{EAAA}";
  c.value = "v";
  c.expect = "o";
  c.ttl = milliseconds(900);
  c.notify = notify;
  return c;
}

TEST(script_exchange, sends_the_name_of_the_script_and_its_arguments) {
  script_exchange e(completion_of(false), "idem:");
  std::string out;
  e.begin(out);
  EXPECT_EQ(sent(out), std::vector{"EVALSHA " + script_of(op::complete).sha1 + " 1 idem:{EAAA} o v 900"});
}

TEST(script_exchange, sends_all_arguments_with_what_is_not_a_completion) {
  auto c = completion_of(false);
  c.what = op::declare;
  script_exchange e(c, "idem:");
  std::string out;
  e.begin(out);
  EXPECT_EQ(sent(out), std::vector{"EVALSHA " + script_of(op::declare).sha1 + " 1 idem:{EAAA} o v 900  0"});
}

TEST(script_exchange, says_of_a_blind_command_that_nobody_reads_what_stands_there) {
  for (const auto what : {op::complete, op::renew}) {
    auto c = completion_of(false);
    c.what = what;
    c.blind = true;
    script_exchange e(c, "idem:");
    std::string out;
    e.begin(out);
    EXPECT_EQ(sent(out), std::vector{"EVALSHA " + script_of(what).sha1 + " 1 idem:{EAAA} o v 900  0 1"});
  }
}

TEST(script_exchange, names_the_channel_of_the_record_when_waiters_are_to_be_woken) {
  script_exchange e(completion_of(true), "idem:");
  std::string out;
  e.begin(out);
  EXPECT_TRUE(sent(out)[0].ends_with(" v 900 idem:w:1 0"));
}

TEST(script_exchange, sends_the_text_once_when_the_server_does_not_know_the_script) {
  script_exchange e(completion_of(false), "idem:");
  std::string out;
  e.begin(out);
  out.clear();
  EXPECT_EQ(e.on_reply(error("NOSCRIPT No matching script"), out).what, step::kind::again);
  EXPECT_EQ(sent(out), std::vector{"EVAL " + script_of(op::complete).text + " 1 idem:{EAAA} o v 900"});
  const auto s = e.on_reply(error("NOSCRIPT No matching script"), out);
  EXPECT_EQ(s.what, step::kind::finished);
  EXPECT_EQ(s.result.what, verdict::unavailable);
}

step answer(resp_value v, op to = op::complete) {
  auto c = completion_of(false);
  c.what = to;
  script_exchange e(c, "idem:");
  std::string out;
  e.begin(out);
  return e.on_reply(std::move(v), out);
}

TEST(script_exchange, understands_each_code) {
  const std::pair<int, verdict> codes[] = {{code_done, verdict::done},       {code_recreated, verdict::recreated},
                                           {code_already, verdict::already}, {code_lost, verdict::lost},
                                           {code_found, verdict::found},     {code_absent, verdict::absent}};
  for (const auto& [code, what] : codes) {
    const auto s = answer(array({number(code), text("x"), number(7)}));
    EXPECT_EQ(s.result.what, what);
    EXPECT_EQ(s.result.value, "x");
    EXPECT_EQ(s.result.ttl, 7);
    EXPECT_EQ(s.took_write, what == verdict::done || what == verdict::recreated);
  }
}

TEST(script_exchange, takes_a_bare_code_for_done_from_a_completion_only) {
  const auto s = answer(number(code_done));
  EXPECT_EQ(s.result.what, verdict::done);
  EXPECT_EQ(s.result.value, "");
  EXPECT_EQ(s.result.ttl, 900);
  EXPECT_TRUE(s.took_write);
  EXPECT_EQ(answer(number(code_done), op::renew).result.what, verdict::unavailable);
}

TEST(script_exchange, trusts_no_reply_of_another_shape) {
  for (auto& v : {status("OK"), nil(), number(1), number(-1), array({}), array({number(9), text(""), number(0)}),
                  array({text("0"), text(""), number(0)}), array({number(0), nil(), number(0)})}) {
    const auto s = answer(v);
    EXPECT_EQ(s.result.what, verdict::unavailable);
    EXPECT_TRUE(s.result.sent);
  }
}

TEST(script_exchange, tells_a_refused_write_from_a_server_that_is_gone) {
  EXPECT_EQ(answer(error("OOM command not allowed")).result.what, verdict::refused);
  EXPECT_EQ(answer(error("MISCONF Redis")).result.what, verdict::refused);
  for (const auto* e : {"READONLY You", "LOADING Redis", "NOPERM x", "BUSY Redis"}) {
    EXPECT_EQ(answer(error(e)).result.what, verdict::unavailable) << e;
    EXPECT_FALSE(answer(error(e)).result.sent) << e;
  }
  EXPECT_TRUE(answer(error("ERR Error running script")).result.sent) << "it may have stopped half-way";
}

}  // namespace
}  // namespace idem::store::redis
