// What every store promises beside the table of transitions.
#include <thread>

#include "store/store_fixture.hpp"
#include "support/eventually.hpp"

namespace idem::test {
namespace {

const std::string mine = owner_text(1, 'a'), theirs = owner_text(1, 'b');

/// A loop of its own with the store's listener on it.
struct listening {
  explicit listening(store::backend& to) {
    to.subscribe(io, [this](std::string_view name) { heard.emplace_back(name); });
  }
  /// Runs the loop until that much was heard; false if it takes too long.
  bool hears(std::size_t n) {
    return eventually([&] {
      io.restart();
      io.run_for(5ms);
      return heard.size() >= n;
    });
  }

  std::vector<std::string> heard;
  boost::asio::io_context io;
};

TEST_P(store_contract, a_claim_of_an_absent_name_finds_its_own_value) {
  const auto name = fresh_name(), value = record_text('P', mine);
  const auto r = run(claim(name, value, 60s));
  EXPECT_EQ(r.what, verdict::found);
  EXPECT_EQ(r.value, value);
  EXPECT_LE(r.ttl, 60000);
  EXPECT_GT(r.ttl, 50000);
  EXPECT_FALSE(r.write_refused);
}

TEST_P(store_contract, a_claim_of_a_taken_name_finds_what_stands_there_and_changes_nothing) {
  const auto name = fresh_name(), first = record_text('P', mine), second = record_text('P', theirs);
  place(name, first, 60s);
  const auto r = run(claim(name, second, 900s));
  EXPECT_EQ(r.what, verdict::found);
  EXPECT_EQ(r.value, first);
  EXPECT_LE(r.ttl, 60000);
}

TEST_P(store_contract, a_claim_of_a_finished_name_finds_the_answer_whole) {
  const auto name = fresh_name(), answer = record_text('S', mine) + std::string("\0\r\n", 3) + std::string(70000, 'b');
  place(name, answer, 60s);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(claim(name, record_text('P', theirs), 900s)).value, answer);
  EXPECT_LE(run(look(name)).ttl, 60000);
}

TEST_P(store_contract, a_repeated_claim_finds_its_own_record) {
  const auto name = fresh_name(), value = record_text('P', mine);
  place(name, value, 60s);
  place(name, value, 60s);
}

TEST_P(store_contract, look_finds_nothing_where_nothing_stands) {
  const auto r = run(look(fresh_name()));
  EXPECT_EQ(r.what, verdict::absent);
  EXPECT_EQ(r.ttl, reply::no_record);
  EXPECT_TRUE(r.value.empty());
}

TEST_P(store_contract, a_record_ends_with_its_time_to_live) {
  const auto name = fresh_name(), value = record_text('P', mine);
  place(name, value, 80ms);
  EXPECT_TRUE(eventually([&] { return run(look(name)).what == verdict::absent; }));
  place(name, record_text('P', theirs), 60s);
}

TEST_P(store_contract, time_left_runs_down_and_a_renewal_puts_it_back) {
  const auto name = fresh_name(), value = record_text('P', mine);
  place(name, value, 60s);
  ASSERT_TRUE(eventually([&] { return run(look(name)).ttl <= 59950; }));
  auto c = claim(name, value, 60s);
  c.what = op::renew;
  c.expect = mine;
  EXPECT_EQ(run(c).what, verdict::done);
  const auto left = run(look(name)).ttl;
  EXPECT_GT(left, 59950 - 5000);
  EXPECT_LE(left, 60000);
}

TEST_P(store_contract, a_lapse_opens_a_record_to_take_over_and_a_renewal_closes_it) {
  const auto name = fresh_name(), value = record_text('P', theirs), taken = record_text('P', owner_text(2, 'a'));
  const std::string prefix = value.substr(0, 42);
  place(name, value, 60s + 100ms);
  auto take = claim(name, taken, 90s);
  take.what = op::take_over;
  take.expect = prefix;
  take.hold = 60s;
  ASSERT_TRUE(eventually([&] { return run(look(name)).ttl <= 60000; }));
  auto renew = claim(name, value, 90s);
  renew.what = op::renew;
  renew.expect = theirs;
  ASSERT_EQ(run(renew).what, verdict::done);
  EXPECT_EQ(run(take).what, verdict::lost);
  take.hold = 90s;
  EXPECT_EQ(run(take).what, verdict::done);
  EXPECT_EQ(run(renew).what, verdict::lost);
  EXPECT_EQ(run(look(name)).value, taken);
}

TEST_P(store_contract, values_are_kept_byte_for_byte) {
  const auto name = fresh_name(), owner = owner_text(1, 'e');
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  std::string large;
  while (large.size() < 200 * 1024) large += every;
  const auto value = record_text('P', owner, " x\r\n$-1\r\n" + every);
  place(name, value, 60s);
  const auto answer = record_text('S', owner, " " + large);
  auto c = claim(name, answer, 60s);
  c.what = op::complete;
  c.expect = owner;
  ASSERT_EQ(run(c).what, verdict::done);
  EXPECT_EQ(run(look(name)).value, answer);
  EXPECT_EQ(run(claim(name, value, 60s)).value, answer);
  EXPECT_EQ(run(c).value, answer) << "own final record comes back whole";
}

TEST_P(store_contract, a_blind_command_does_the_same_and_is_not_shown_what_stands_there) {
  const auto name = fresh_name(), value = record_text('P', mine), answer = record_text('S', mine);
  auto c = claim(name, value, 60s);
  c.expect = mine;
  c.blind = true;
  const auto ends = [&](op what, const std::string& with, verdict as) {
    c.what = what;
    c.value = with;
    const auto r = run(c);
    EXPECT_EQ(r.what, as) << static_cast<int>(what);
    EXPECT_EQ(r.value, "");
    if (as != verdict::done && as != verdict::recreated) EXPECT_GT(r.ttl, 0);
  };
  for (const bool stands : {false, true}) ends(op::renew, value, stands ? verdict::done : verdict::recreated);
  ends(op::complete, answer, verdict::done);
  ends(op::complete, answer, verdict::already);
  ends(op::renew, value, verdict::lost);
  ends(op::release, record_text('U', mine), verdict::lost);
  const std::string other = owner_text(1, 'b');
  c.expect = other;
  ends(op::complete, answer, verdict::lost);
  EXPECT_EQ(run(look(name)).value, answer);
}

TEST_P(store_contract, names_with_braces_spaces_and_line_ends_are_kept_apart) {
  const auto base = fresh_name();
  const std::vector<std::string> names{base,          base + "}",  "{" + base,
                                       base + "\r\n", base + " x", base + std::string(1, '\0')};
  for (const auto& n : names) place(n, record_text('P', mine, " " + n), 60s);
  for (const auto& n : names) EXPECT_EQ(run(look(n)).value, record_text('P', mine, " " + n));
}

TEST_P(store_contract, an_ended_record_is_recreated_by_its_owner) {
  const auto name = fresh_name(), value = record_text('S', mine);
  auto c = claim(name, value, 60s);
  c.what = op::complete;
  c.expect = mine;
  EXPECT_EQ(run(c).what, verdict::recreated);
  EXPECT_EQ(run(c).what, verdict::already);
}

TEST_P(store_contract, sessions_of_one_store_share_its_records) {
  const auto name = fresh_name(), value = record_text('P', mine);
  place(name, value, 60s);
  session_runner other(*backend_);
  ASSERT_TRUE(other.connect());
  EXPECT_EQ(other.run(look(name)).value, value);
}

TEST_P(store_contract, eight_threads_that_claim_the_same_names_agree_on_one_owner_of_each) {
  constexpr std::size_t threads = 8, names_count = 200;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < names_count; ++i) names.push_back(fresh_name());
  std::vector<std::vector<std::string>> seen(threads, std::vector<std::string>(names_count));
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      session_runner r(*backend_);
      ASSERT_TRUE(r.connect());
      const auto value = record_text('P', owner_text(1, static_cast<char>('a' + t)));
      std::size_t answers = 0;
      for (std::size_t i = 0; i < names_count; ++i)
        r.session().submit(claim(names[i], value, 60s), [&, i](reply a) {
          seen[t][i] = a.value;
          ++answers;
        });
      EXPECT_TRUE(r.run_until([&] { return answers == names_count; }, 30s));
    });
  for (auto& t : running) t.join();
  for (std::size_t i = 0; i < names_count; ++i) {
    EXPECT_EQ(seen[0][i].size(), record_text('P', mine).size());
    for (std::size_t t = 1; t < threads; ++t) EXPECT_EQ(seen[t][i], seen[0][i]);
  }
}

TEST_P(store_contract, of_eight_threads_that_take_over_a_lapsed_record_one_wins) {
  const auto name = fresh_name(), value = record_text('P', mine);
  const std::string prefix = value.substr(0, 42);
  place(name, value, 50s);
  std::atomic<int> won{0};
  std::vector<std::thread> running;
  for (int t = 0; t < 8; ++t)
    running.emplace_back([&, t] {
      session_runner r(*backend_);
      ASSERT_TRUE(r.connect());
      const auto taken = record_text('P', owner_text(2, static_cast<char>('a' + t)));
      auto c = claim(name, taken, 90s);
      c.what = op::take_over;
      c.expect = prefix;
      c.hold = 60s;
      if (r.run(c).what == verdict::done) ++won;
    });
  for (auto& t : running) t.join();
  EXPECT_EQ(won, 1);
}

TEST_P(store_contract, commands_of_one_session_take_effect_in_their_order) {
  const auto name = fresh_name(), value = record_text('P', mine), answer = record_text('S', mine);
  std::vector<verdict> verdicts;
  const auto note = [&](reply r) { verdicts.push_back(r.what); };
  auto complete = claim(name, answer, 60s);
  complete.what = op::complete;
  complete.expect = mine;
  runner_->session().submit(claim(name, value, 60s), note);
  runner_->session().submit(complete, note);
  runner_->session().submit(complete, note);
  ASSERT_TRUE(runner_->run_until([&] { return verdicts.size() == 3; }));
  EXPECT_EQ(verdicts, (std::vector{verdict::found, verdict::done, verdict::already}));
}

TEST_P(store_contract, a_completion_may_submit_the_next_command) {
  const auto name = fresh_name(), value = record_text('P', mine);
  std::optional<reply> second;
  const auto next = look(name);
  runner_->session().submit(claim(name, value, 60s),
                            [&](reply) { runner_->session().submit(next, [&](reply r) { second = std::move(r); }); });
  ASSERT_TRUE(runner_->run_until([&] { return second.has_value(); }));
  EXPECT_EQ(second->value, value);
}

TEST_P(store_contract, a_completion_may_close_the_session_and_every_other_command_ends) {
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) {
    names.push_back(fresh_name());
    ASSERT_EQ(run(claim(names.back(), record_text('P', mine), 60s)).what, verdict::found);
  }
  const auto answer = record_text('S', mine);
  std::size_t ended = 0;
  for (const auto& name : names) {
    auto c = claim(name, answer, 60s);
    c.what = op::complete;
    c.expect = mine;
    runner_->session().submit(c, [&](reply) {
      if (++ended == 1) runner_->session().close();
    });
  }
  ASSERT_TRUE(runner_->run_until([&] { return ended == names.size(); }));
  EXPECT_FALSE(runner_->session().status().reachable);
  EXPECT_FALSE(runner_->session().status().writable);
}

TEST_P(store_contract, a_closed_session_answers_unavailable_and_nothing_was_sent) {
  runner_->session().close();
  const auto r = run(look(fresh_name()));
  EXPECT_EQ(r.what, verdict::unavailable);
  EXPECT_FALSE(r.sent);
  EXPECT_FALSE(runner_->session().status().reachable);
}

TEST_P(store_contract, a_store_that_works_is_reachable_writable_and_untroubled) {
  place(fresh_name(), record_text('P', mine), 60s);
  const auto h = runner_->session().status();
  EXPECT_TRUE(h.reachable);
  EXPECT_TRUE(h.writable);
  EXPECT_FALSE(h.ever_troubled);
  EXPECT_EQ(backend_->verify(), "");
}

TEST_P(store_contract, listeners_hear_of_settled_records_that_ask_for_it) {
  listening listener(*backend_);
  ASSERT_TRUE(listener.hears(1));
  EXPECT_EQ(listener.heard[0], "") << "the subscription is confirmed";

  // told by nothing: a claim, a renewal, and a completion that does not ask
  const auto quiet = fresh_name(), loud = fresh_name(), released = fresh_name(), value = record_text('P', mine);
  const auto answer = record_text('S', mine);
  auto c = claim(quiet, value, 60s);
  c.notify = true;
  run(c);
  c.what = op::renew;
  c.expect = mine;
  EXPECT_EQ(run(c).what, verdict::done);
  c.what = op::complete;
  c.value = answer;
  c.notify = false;
  EXPECT_EQ(run(c).what, verdict::done);
  // a completion that loses settles nothing either
  c.notify = true;
  EXPECT_EQ(run(c).what, verdict::already);

  place(released, value, 60s);
  place(loud, value, 60s);
  c.name = loud;
  EXPECT_EQ(run(c).what, verdict::done);
  c.what = op::release;
  c.name = released;
  EXPECT_EQ(run(c).what, verdict::done);
  ASSERT_TRUE(listener.hears(3));
  EXPECT_EQ(listener.heard, (std::vector<std::string>{"", loud, released}));
}

TEST_P(store_contract, a_listener_may_go_before_the_store) {
  {
    listening listener(*backend_);
    ASSERT_TRUE(listener.hears(1));
  }
  const auto name = fresh_name(), value = record_text('S', mine);
  auto c = claim(name, value, 60s);
  c.what = op::complete;
  c.expect = mine;
  c.notify = true;
  EXPECT_EQ(run(c).what, verdict::recreated);
  backend_.reset();
}

TEST_P(store_contract, that_goes_before_its_listener_leaves_the_loop_nothing_to_do) {
  listening listener(*backend_);
  ASSERT_TRUE(listener.hears(1));
  runner_.reset();
  backend_.reset();
  listener.io.restart();
  listener.io.run_for(10s);
  EXPECT_TRUE(listener.io.stopped()) << "a subscription, or its next try, outlives the store";
  EXPECT_EQ(listener.heard, std::vector<std::string>{""});
}

TEST_P(store_contract, that_goes_at_once_leaves_no_subscription_behind) {
  listening listener(*backend_);
  runner_.reset();
  backend_.reset();
  listener.io.run_for(10s);
  EXPECT_TRUE(listener.io.stopped()) << "what was begun when the store was there outlives it";
}

}  // namespace
}  // namespace idem::test
