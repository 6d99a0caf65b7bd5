#include "unit/store/conversation.hpp"

namespace idem::store::redis {
namespace {

using namespace test;

const std::string owner = "0001 " + std::string(32, 'a');
const std::string processing = "i1 P " + owner, done = "i1 S " + owner;

class transaction : public testing::Test {
 protected:
  explicit transaction(op what = op::complete) {
    c.what = what;
    c.name = "idem:{EAAA}";
    c.value = done;
    c.expect = owner;
    c.ttl = milliseconds(900);
  }
  void begin() {
    e.emplace(c, "idem:");
    e->begin(out);
    EXPECT_EQ(sent(out), (std::vector<std::string>{"WATCH idem:{EAAA}", "GET idem:{EAAA}", "PTTL idem:{EAAA}"}));
  }
  step play(std::vector<resp_value> replies) { return test::play(*e, out, std::move(replies)); }

  command c;
  std::optional<transaction_exchange> e;
  std::string out;
};

TEST_F(transaction, writes_what_the_table_says_in_one_step_with_the_watch) {
  begin();
  EXPECT_EQ(play({status("OK"), text(processing), number(5)}).what, step::kind::again);
  EXPECT_EQ(sent(out), (std::vector<std::string>{"MULTI", "SET idem:{EAAA} " + done + " PX 900", "EXEC"}));
  const auto s = play({status("OK"), status("QUEUED"), array({status("OK")})});
  EXPECT_EQ(s.what, step::kind::finished);
  EXPECT_EQ(s.result.what, verdict::done);
  EXPECT_TRUE(s.took_write);
}

TEST_F(transaction, starts_over_when_another_wrote_in_between) {
  begin();
  play({status("OK"), text(processing), number(5)});
  out.clear();
  EXPECT_EQ(play({status("OK"), status("QUEUED"), nil()}).what, step::kind::again);
  EXPECT_EQ(sent(out).size(), 3u);
  EXPECT_EQ(play({status("OK"), text(done), number(5)}).what, step::kind::again);
  EXPECT_EQ(sent(out).back(), "UNWATCH");
  const auto s = play({error("ERR syntax error"), status("OK")});
  EXPECT_EQ(s.result.what, verdict::already);
  EXPECT_EQ(s.result.value, done);
  EXPECT_FALSE(s.took_write);
}

TEST_F(transaction, of_a_blind_command_reads_no_more_than_decides) {
  c.blind = true;
  e.emplace(c, "idem:");
  e->begin(out);
  const std::vector<std::string> reads{"WATCH idem:{EAAA}", "GETRANGE idem:{EAAA} 0 41", "PTTL idem:{EAAA}"};
  EXPECT_EQ(sent(out), reads);
  EXPECT_EQ(play({status("OK"), text(done), number(5)}).what, step::kind::again);
  EXPECT_EQ(sent(out).back(), "UNWATCH");
  const auto s = play({error("ERR syntax error"), status("OK")});
  EXPECT_EQ(s.result.what, verdict::already);
  EXPECT_EQ(s.result.value, "");
  EXPECT_EQ(s.result.ttl, 5);
}

TEST_F(transaction, of_a_blind_command_tells_absence_from_what_ends_between_the_reads) {
  c.blind = true;
  e.emplace(c, "idem:");
  e->begin(out);
  out.clear();
  EXPECT_EQ(play({status("OK"), text(processing), number(reply::no_record)}).what, step::kind::again);
  EXPECT_EQ(sent(out)[0], "WATCH idem:{EAAA}");
  play({status("OK"), text(""), number(reply::no_record)});
  EXPECT_EQ(sent(out)[1], "SET idem:{EAAA} " + done + " PX 900");
  EXPECT_EQ(play({status("OK"), status("QUEUED"), array({status("OK")})}).result.what, verdict::recreated);
}

TEST_F(transaction, believes_no_replica_that_shows_another_record) {
  begin();
  EXPECT_EQ(play({status("OK"), text("i1 P 0001 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"), number(5)}).what,
            step::kind::again);
  EXPECT_EQ(sent(out).size(), 2u);
  const auto s = play({error("READONLY You can't write against a read only replica."), status("OK")});
  EXPECT_EQ(s.result.what, verdict::unavailable);
  EXPECT_FALSE(s.result.sent);
  EXPECT_EQ(s.fault, server_error::read_only);
}

TEST_F(transaction, gives_up_a_record_that_never_stands_still) {
  begin();
  step s;
  int rounds = 0;
  do {
    play({status("OK"), text(processing), number(5)});
    s = play({status("OK"), status("QUEUED"), nil()});
  } while (s.what == step::kind::again && ++rounds < 100);
  EXPECT_EQ(s.what, step::kind::finished);
  EXPECT_EQ(s.result.what, verdict::unavailable);
  EXPECT_FALSE(s.result.sent);
}

TEST_F(transaction, reports_a_write_that_was_refused_when_it_was_queued) {
  begin();
  play({status("OK"), text(processing), number(5)});
  const auto s = play({status("OK"), error("OOM command not allowed"), error("EXECABORT Transaction discarded")});
  EXPECT_EQ(s.result.what, verdict::refused);
}

TEST_F(transaction, wakes_waiters_behind_the_write_and_does_not_mind_being_refused_that) {
  c.notify = true;
  begin();
  play({status("OK"), text(processing), number(5)});
  EXPECT_EQ(sent(out).back(), "PUBLISH idem:w:1 idem:{EAAA}");
  const auto s = play({status("OK"), status("QUEUED"), array({status("OK")}), error("NOPERM no")});
  EXPECT_EQ(s.result.what, verdict::done);
}

TEST_F(transaction, releases_the_watch_before_it_reports_a_failed_read) {
  begin();
  EXPECT_EQ(play({status("OK"), error("LOADING x"), error("LOADING x")}).what, step::kind::again);
  EXPECT_EQ(sent(out), std::vector<std::string>{"UNWATCH"});
  const auto s = play({error("LOADING x")});
  EXPECT_EQ(s.result.what, verdict::unavailable);
  EXPECT_FALSE(s.result.sent);
}

class transactional_look : public transaction {
 protected:
  transactional_look() : transaction(op::look) {}
  step look(std::vector<resp_value> replies) {
    e.emplace(c, "idem:");
    e->begin(out);
    EXPECT_EQ(sent(out).size(), 5u);
    return play(std::move(replies));
  }
};

TEST_F(transactional_look, reads_value_and_time_left_in_one_step) {
  const auto ok = error("ERR syntax error"), queued = status("QUEUED");
  const auto s = look({ok, status("OK"), queued, queued, array({text("x"), number(7)})});
  EXPECT_EQ(s.result.what, verdict::found);
  EXPECT_EQ(s.result.value, "x");
  EXPECT_EQ(s.result.ttl, 7);
  EXPECT_EQ(look({ok, status("OK"), queued, queued, array({nil(), number(-2)})}).result.what, verdict::absent);
  EXPECT_EQ(look({error("OOM x"), status("OK"), queued, queued, array({text("x"), number(7)})}).result.what,
            verdict::found);
}

TEST_F(transactional_look, does_not_believe_a_replica) {
  const auto s =
      look({error("READONLY You"), status("OK"), status("QUEUED"), status("QUEUED"), array({text("x"), number(7)})});
  EXPECT_EQ(s.result.what, verdict::unavailable);
  EXPECT_EQ(s.fault, server_error::read_only);
}

}  // namespace
}  // namespace idem::store::redis
