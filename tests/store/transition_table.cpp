// Every command against everything that can stand there: the table of docs/protocol.md, "Transitions", written out.
#include "store/store_fixture.hpp"

namespace idem::test {
namespace {

constexpr milliseconds standing_ttl = 500s, new_ttl = 900s;
const std::string mine = owner_text(1, 'a'), theirs = owner_text(1, 'b');

struct standing_case {
  std::string label, value;
  bool present = true;
};

// The columns of the tables below, in this order.
std::vector<standing_case> standings(const std::string& owner) {
  const auto again = owner_text(owner.starts_with("0001") ? 7 : 1, owner.back());
  return {
      {"nothing", "", false},
      {"own P", record_text('P', owner)},
      {"own U", record_text('U', owner)},
      {"own S", record_text('S', owner)},
      {"own F", record_text('F', owner)},
      {"own X", record_text('X', owner)},
      {"own R", record_text('R', owner)},
      {"another's P", record_text('P', theirs)},
      {"another's U", record_text('U', theirs)},
      {"another's S", record_text('S', theirs)},
      {"another's F", record_text('F', theirs)},
      {"another's X", record_text('X', theirs)},
      {"another's R", record_text('R', theirs)},
      {"own token, other attempt", record_text('P', again)},
      {"own, unknown state", record_text('Q', owner)},
      {"own, unknown version", "i2" + record_text('P', owner).substr(2)},
      {"own, cut short", record_text('P', owner, "").substr(0, 41)},
      {"text of others", "hello"},
      {"empty text", ""},
  };
}

std::string name_of(verdict v) {
  constexpr const char* names[] = {"found", "absent", "done", "recreated", "already", "lost", "refused", "unavailable"};
  return names[static_cast<int>(v)];
}

// What a letter of a table row stands for.
struct effect {
  verdict what;
  enum { unchanged, written, extended, gone, revoked } after;
};
effect effect_of(char letter) {
  switch (letter) {
    case 'W': return {verdict::recreated, effect::written};
    case 'D': return {verdict::done, effect::written};
    case 'E': return {verdict::done, effect::extended};
    case 'G': return {verdict::done, effect::gone};
    case 'R': return {verdict::done, effect::revoked};
    case 'A': return {verdict::already, effect::unchanged};
    default: return {verdict::lost, effect::unchanged};
  }
}

class transition_table : public store_contract {
 protected:
  // One row: `letters` has one letter for each standing; `.` = the comparison fails, all stays.
  void check_row(command c, const std::string& owner, const std::string& letters, milliseconds ttl = standing_ttl) {
    const auto columns = standings(owner);
    ASSERT_EQ(letters.size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) check(c, columns[i], letters[i], ttl);
  }

  void check(command c, const standing_case& standing, char letter, milliseconds ttl) {
    SCOPED_TRACE("against " + standing.label);
    const auto name = fresh_name();
    if (standing.present) place(name, standing.value, ttl);
    c.name = name;
    const auto prefix = standing.value.substr(0, 42);
    if (by_prefix_) c.expect = prefix;
    const auto want = effect_of(letter);

    const auto r = run(c);
    EXPECT_EQ(name_of(r.what), name_of(want.what));
    if (r.what == verdict::lost || r.what == verdict::already) {
      EXPECT_EQ(r.value, standing.value);
      expect_ttl(r.ttl, standing.present ? std::optional(ttl) : std::nullopt);
    }
    expect_after(name, c, standing, want, ttl);
  }

  void expect_after(const std::string& name, const command& c, const standing_case& s, effect want, milliseconds ttl) {
    const auto now = run(look(name));
    const bool stands = want.after == effect::unchanged ? s.present : want.after != effect::gone;
    EXPECT_EQ(name_of(now.what), name_of(stands ? verdict::found : verdict::absent));
    auto value = s.value;
    if (want.after == effect::written) value = c.value;
    if (want.after == effect::revoked) value[3] = 'R';
    if (want.after == effect::gone) value.clear();
    EXPECT_EQ(now.value, value);
    if (stands) expect_ttl(now.ttl, want.after == effect::unchanged ? ttl : c.ttl);
  }

  static void expect_ttl(std::int64_t got, std::optional<milliseconds> want) {
    if (!want) {
      EXPECT_EQ(got, reply::no_record);
      return;
    }
    EXPECT_LE(got, want->count());
    EXPECT_GT(got, want->count() - 60000);
  }

  command make(op what, const std::string& value, const std::string& owner) {
    command c;
    c.what = what;
    c.value = kept_value_ = value;
    c.expect = kept_owner_ = owner;
    c.value = kept_value_;
    c.expect = kept_owner_;
    c.ttl = new_ttl;
    return c;
  }
  // take_over, revoke and resolve expect the prefix of what stands there
  void expect_the_prefix_that_stands() { by_prefix_ = true; }

 private:
  bool by_prefix_ = false;
  std::string kept_value_, kept_owner_;
};

// columns:       - own PUSFXR  another's PUSFXR  attempt, state, version, short, text, empty
TEST_P(transition_table, renew_extends_an_own_P_and_recreates_what_is_gone) {
  check_row(make(op::renew, record_text('P', mine, " renewed\n"), mine), mine, "WE.................");
}

TEST_P(transition_table, complete_replaces_own_P_U_and_R_and_reports_an_own_final_record) {
  check_row(make(op::complete, record_text('S', mine, " answer\n"), mine), mine, "WDDAAAD............");
}

TEST_P(transition_table, completions_of_one_turn_end_as_each_does_alone) {
  const auto c = make(op::complete, record_text('S', mine, " answer\n"), mine);
  const std::string letters = "WDDAAAD............";
  const auto columns = standings(mine);
  std::vector<std::string> names;
  for (const auto& s : columns) {
    names.push_back(fresh_name());
    if (s.present) place(names.back(), s.value, standing_ttl);
  }
  // each twice, one behind the other: what the second finds is what the first left
  std::vector<reply> replies(2 * columns.size());
  std::size_t replied = 0;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    command one = c;
    one.name = names[i / 2];
    runner_->session().submit(one, [&replies, &replied, i](reply r) {
      replies[i] = std::move(r);
      ++replied;
    });
  }
  ASSERT_TRUE(runner_->run_until([&] { return replied == replies.size(); }));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    SCOPED_TRACE("against " + columns[i].label);
    const auto want = effect_of(letters[i]);
    EXPECT_EQ(name_of(replies[2 * i].what), name_of(want.what));
    const auto again = want.what == verdict::lost ? verdict::lost : verdict::already;
    EXPECT_EQ(name_of(replies[2 * i + 1].what), name_of(again));
    if (want.after == effect::written) {
      EXPECT_EQ(replies[2 * i + 1].value, c.value);
    }
    expect_after(names[i], c, columns[i], want, standing_ttl);
  }
}

TEST_P(transition_table, release_of_a_first_attempt_removes_an_own_P_only) {
  check_row(make(op::release, record_text('U', mine), mine), mine, ".G.................");
}

TEST_P(transition_table, release_of_a_later_attempt_leaves_an_unknown_outcome) {
  const auto second = owner_text(2, 'a');
  check_row(make(op::release, record_text('U', second, " later\n"), second), second, ".D.................");
}

TEST_P(transition_table, declare_replaces_own_P_and_R_and_writes_where_nothing_stands) {
  check_row(make(op::declare, record_text('U', mine, " declared\n"), mine), mine, "WD....D............");
}

TEST_P(transition_table, declare_of_a_cut_stream_replaces_an_own_X_too) {
  auto c = make(op::declare, record_text('U', mine, " declared\n"), mine);
  c.declare_x = true;
  check_row(c, mine, "WD...DD............");
}

TEST_P(transition_table, take_over_replaces_a_P_or_U_whose_time_left_is_at_most_hold) {
  auto c = make(op::take_over, record_text('P', owner_text(2, 'c')), {});
  expect_the_prefix_that_stands();
  c.hold = 500s;
  check_row(c, mine, ".DD....DD....D.....");
  c.hold = 400s;
  check_row(c, mine, "...................");
}

TEST_P(transition_table, take_over_fails_when_the_prefix_changed) {
  check_row(
      [&] {
        auto c = make(op::take_over, record_text('P', owner_text(2, 'c')), record_text('P', owner_text(9, 'd'), ""));
        c.hold = 500s;
        return c;
      }(),
      mine, "...................");
}

TEST_P(transition_table, revoke_turns_any_P_into_R_and_keeps_the_rest) {
  auto c = make(op::revoke, {}, {});
  expect_the_prefix_that_stands();
  check_row(c, mine, ".R.....R.....R.....");
}

TEST_P(transition_table, resolve_replaces_a_U) {
  auto c = make(op::resolve, record_text('S', mine, " resolved\n"), {});
  expect_the_prefix_that_stands();
  check_row(c, mine, "..D.....D..........");
}

TEST_P(transition_table, resolve_to_absent_needs_a_U_that_is_one_lease_old) {
  auto c = make(op::resolve, {}, {});
  expect_the_prefix_that_stands();
  c.lease = 100s;
  c.hold = 600s;
  check_row(c, mine, "..G.....G..........");
  c.hold = 599s;
  check_row(c, mine, "...................");
}

INSTANTIATE_TEST_SUITE_P(on, transition_table,
                         testing::Values(store_kind::memory, store_kind::redis, store_kind::redis_without_scripts),
                         kind_name);

}  // namespace
}  // namespace idem::test
