#include "faults/checker.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace idem::test {
namespace {

using namespace std::chrono_literals;

/// A request that was sent in time may be read late by a backend on a busy machine.
constexpr auto reading_late = 500ms;
constexpr std::size_t several = 5;

std::string number(std::size_t n) { return std::to_string(n); }

class judge {
 public:
  explicit judge(const history& h) : h_(h) {
    for (const auto& e : h_.executions) executions_[e.id] = &e;
    for (const auto& a : h_.attempts) attempts_[a.id] = &a;
  }

  std::vector<violation> all() {
    executed_at_most_once();
    answers_equal_the_first();
    nothing_stays_processing();
    newer_records_stand();
    nothing_is_sent_for_settled_keys();
    answers_go_where_they_belong();
    nothing_executes_without_a_store();
    replays_go_on_while_reads_work();
    return std::move(found_);
  }

 private:
  void say(int invariant, const std::string& identity, std::string what) {
    found_.push_back({invariant, identity, std::move(what)});
  }

  const execution* find(std::size_t id) const {
    const auto at = executions_.find(id);
    return at == executions_.end() ? nullptr : at->second;
  }

  /// The client got the application's answer whole, and the proxy says that it is kept: what later ones must equal.
  const execution* promised(const attempt& a) const {
    if (!a.answer.whole() || !mark_of(a.answer).empty()) return nullptr;
    const auto* e = find(execution_of(a.answer.fields));
    return e && e->end == outcome::kept ? e : nullptr;
  }

  void executed_at_most_once() {
    std::map<std::string, std::size_t> first;
    for (const auto& e : h_.executions) {
      if (!e.what.at_most_once || e.end == outcome::released) continue;
      const auto [at, is_first] = first.emplace(e.what.identity(), e.id);
      if (!is_first) say(1, at->first, "executed by execution " + number(at->second) + " and again by " + number(e.id));
    }
  }

  void answers_equal_the_first() {
    std::map<std::string, std::size_t> first;
    for (const auto& a : h_.attempts) {
      const auto id = execution_of(a.answer.fields);
      if (!a.answer.whole() || id == 0) continue;
      const auto identity = a.what.identity();
      const auto* e = find(id);
      if (!e) {
        say(2, identity, "try " + number(a.id) + " got an answer that the backend never gave");
        continue;
      }
      if (e->end == outcome::broken || plain(a.answer) != e->answer)
        say(2, identity, "try " + number(a.id) + " got another answer than execution " + number(id) + " gave");
      if (e->end == outcome::released && is_replay(a.answer))
        say(2, identity, "try " + number(a.id) + " got a replay of a released answer");
      if (!promised(a)) continue;
      const auto [at, is_first] = first.emplace(identity, id);
      if (at->second != id)
        say(2, identity, "answers of execution " + number(at->second) + " and of " + number(id) + " were both kept");
    }
    for (const auto& r : h_.at_the_end) check_stored(r);
  }

  void check_stored(const stored_record& r) {
    if (r.state != 'S' && r.state != 'F') return;
    const auto* e = find(execution_of(r.answer.lines));
    if (!e || e->end != outcome::kept || r.answer != e->answer)
      say(2, e ? e->what.identity() : "", "record " + r.name + " holds another answer than the backend gave");
  }

  void nothing_stays_processing() {
    for (const auto* records : {&h_.after_owners_died, &h_.at_the_end})
      for (const auto& r : *records)
        if (r.alive()) say(3, "", "record " + r.name + " is PROCESSING though nobody owns it");
  }

  void newer_records_stand() {
    std::map<std::string, std::string> last;
    for (const auto& s : h_.sightings) {
      auto& before = last[s.name];
      if (!before.empty() && !may_follow(before, s.prefix))
        say(4, "", "record " + s.name + " was " + before + " and became " + (s.prefix.empty() ? "nothing" : s.prefix));
      before = s.prefix;
    }
  }

  /// By "Transitions", without the operator's. Looks can miss steps between the two states.
  static bool may_follow(const std::string& before, const std::string& after) {
    constexpr std::size_t state = 3, owner = 5, digits = 4;
    const char from = before[state];
    const bool first_attempt = before.compare(owner, digits, "0001") == 0;
    if (after.empty()) return from == 'P' && first_attempt;  // released
    const int order = after.compare(owner, digits, before, owner, digits);
    if (order < 0 || from == 'S' || from == 'F') return after == before;
    if (order > 0) return true;  // taken over
    const bool same_owner = after.compare(owner, std::string::npos, before, owner, std::string::npos) == 0;
    if (!same_owner) return from == 'P' && first_attempt;  // released, and claimed by another
    if (from == 'X') return after[state] == 'X' || after[state] == 'U';
    return from == 'P' || after[state] != 'P';
  }

  void nothing_is_sent_for_settled_keys() {
    std::map<std::string, moment> settled;
    for (const auto& a : h_.attempts) {
      if (!promised(a)) continue;
      const auto [at, is_first] = settled.emplace(a.what.identity(), a.ended);
      at->second = std::min(at->second, a.ended);
    }
    for (const auto& e : h_.executions) {
      const auto at = settled.find(e.what.identity());
      if (at != settled.end() && e.at > at->second + reading_late)
        say(4, at->first, "execution " + number(e.id) + " was sent after the key had been settled");
    }
  }

  void answers_go_where_they_belong() {
    for (const auto& e : h_.executions) {
      const auto at = attempts_.find(e.attempt);
      if (at != attempts_.end() && at->second->what != e.what)
        say(5, e.what.identity(), "execution " + number(e.id) + " is not what try " + number(e.attempt) + " asked for");
    }
    for (const auto& a : h_.attempts) {
      const auto* e = find(execution_of(a.answer.fields));
      if (e && e->what != a.what)
        say(5, a.what.identity(),
            "try " + number(a.id) + " got the answer to " + e->what.identity() + " " + e->what.body);
    }
    std::set<std::size_t> stored;
    for (const auto& r : h_.at_the_end) {
      const auto id = execution_of(r.answer.lines);
      if (id != 0 && !stored.insert(id).second) say(5, "", "two records hold the answer of execution " + number(id));
    }
  }

  /// Only tries that began without a store: what was claimed before may still be sent.
  void nothing_executes_without_a_store() {
    for (const auto& e : h_.executions) {
      const auto at = attempts_.find(e.attempt);
      if (at == attempts_.end()) continue;
      for (const auto& w : h_.store_gone)
        if (at->second->sent >= w.from && e.at <= w.to)
          say(6, e.what.identity(), "execution " + number(e.id) + " ran while the store was gone");
    }
  }

  /// A store on a busy machine misses its timeout now and then: only a window in which all of several fail counts.
  void replays_go_on_while_reads_work() {
    std::map<std::string, moment> kept;
    for (const auto& a : h_.attempts) {
      if (promised(a) && is_replay(a.answer)) kept.emplace(a.what.identity(), a.ended);
    }
    for (const auto& w : h_.store_gone) {
      std::size_t asked = 0, replayed = 0;
      for (const auto& a : h_.attempts) {
        const auto at = kept.find(a.what.identity());
        if (!w.reads_work || a.sent < w.from || a.ended > w.to || at == kept.end() || at->second > w.from) continue;
        const auto mark = mark_of(a.answer);
        replayed += is_replay(a.answer) ? 1 : 0;
        asked += is_replay(a.answer) || mark == "store-unavailable" ? 1 : 0;
      }
      if (asked >= several && replayed == 0)
        say(6, "", "no replay of " + number(asked) + " while the store took no writes");
    }
  }

  const history& h_;
  std::map<std::size_t, const execution*> executions_;
  std::map<std::size_t, const attempt*> attempts_;
  std::vector<violation> found_;
};

}  // namespace

std::vector<violation> check(const history& h) { return judge(h).all(); }

bool violates(const std::vector<violation>& found, int invariant) {
  return std::any_of(found.begin(), found.end(), [&](const auto& v) { return v.invariant == invariant; });
}

std::string report(const history& h, const std::vector<violation>& found) {
  constexpr std::size_t most = 8;
  std::string text = number(found.size()) + " violations\n";
  std::set<std::string> told;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) {
    const auto& v = found[i];
    text += "invariant " + std::to_string(v.invariant) + ": " + v.identity + " " + v.what + "\n";
    if (!v.identity.empty() && told.insert(v.identity).second) text += story_of(h, v.identity);
  }
  return text;
}

}  // namespace idem::test
