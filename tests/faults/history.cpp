#include "faults/history.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace idem::test {
namespace {

constexpr std::array<std::string_view, 7> not_the_applications = {
    "Content-Length",     "Transfer-Encoding",  "Trailer", "Connection", "Keep-Alive",
    "Idempotency-Status", "Idempotent-Replayed"};

std::string seconds(moment start, moment at) {
  char text[32];
  std::snprintf(text, sizeof text, "%9.3f ", std::chrono::duration<double>(at - start).count());
  return text;
}

std::string_view name_of(outcome o) {
  return o == outcome::kept ? "kept" : o == outcome::released ? "released" : "broken";
}

std::string describe(const http_response& r) {
  if (!r.whole()) return r.status == 0 ? "no answer" : "cut after " + std::to_string(r.status);
  std::string text = std::to_string(r.status);
  if (const auto id = execution_of(r.fields)) text += " of execution " + std::to_string(id);
  if (is_replay(r)) text += " replayed";
  if (const auto mark = mark_of(r); !mark.empty()) text += " " + mark;
  return text;
}

}  // namespace

std::size_t execution_of(const field_lines& lines) {
  for (const auto& [name, value] : lines)
    if (same_name(name, "X-Execution")) return std::strtoull(value.c_str(), nullptr, 10);
  return 0;
}

plain_answer plain(const http_response& answer) {
  plain_answer p{answer.status, answer.reason, {}, answer.body};
  std::copy_if(answer.fields.begin(), answer.fields.end(), std::back_inserter(p.lines), [](const auto& line) {
    return std::none_of(not_the_applications.begin(), not_the_applications.end(),
                        [&](auto name) { return same_name(name, line.first); });
  });
  return p;
}

std::string mark_of(const http_response& answer) {
  if (answer.has("Idempotency-Status")) return answer.value("Idempotency-Status");
  for (const auto& [name, value] : answer.trailers)
    if (same_name(name, "Idempotency-Status")) return value;
  return {};
}

bool is_replay(const http_response& answer) { return answer.has("Idempotent-Replayed"); }

std::size_t recorder::new_attempt() {
  const std::lock_guard lock(mutex_);
  return ++attempts_;
}

void recorder::add(attempt a) {
  const std::lock_guard lock(mutex_);
  history_.attempts.push_back(std::move(a));
}

void recorder::add(sighting s) {
  const std::lock_guard lock(mutex_);
  history_.sightings.push_back(std::move(s));
}

void recorder::add(store_window w) {
  const std::lock_guard lock(mutex_);
  history_.store_gone.push_back(w);
}

void recorder::set_after_owners_died(std::vector<stored_record> all) {
  const std::lock_guard lock(mutex_);
  history_.after_owners_died = std::move(all);
}

void recorder::set_at_the_end(std::vector<stored_record> all) {
  const std::lock_guard lock(mutex_);
  history_.at_the_end = std::move(all);
}

history recorder::snapshot() const {
  const std::lock_guard lock(mutex_);
  return history_;
}

std::string story_of(const history& h, const std::string& identity) {
  moment start = moment::max();
  for (const auto& a : h.attempts) start = std::min(start, a.sent);
  std::multimap<moment, std::string> lines;
  for (const auto& a : h.attempts) {
    if (a.what.identity() != identity) continue;
    const auto number = "try " + std::to_string(a.id);
    lines.emplace(a.sent, number + " sent " + a.what.body);
    lines.emplace(a.ended, number + " ended: " + describe(a.answer));
  }
  for (const auto& e : h.executions) {
    if (e.what.identity() != identity) continue;
    lines.emplace(e.at, "execution " + std::to_string(e.id) + " of try " + std::to_string(e.attempt) + ": " +
                            std::string(name_of(e.end)));
  }
  std::string text = identity + "\n";
  for (const auto& [at, line] : lines) text += seconds(start, at) + line + "\n";
  return text;
}

std::string summary_of(const history& h) {
  std::map<std::string, std::size_t> counts;
  for (const auto& e : h.executions) ++counts["executions " + std::string(name_of(e.end))];
  for (const auto& a : h.attempts) {
    const auto mark = mark_of(a.answer);
    std::string kind = "application";
    if (!a.answer.whole())
      kind = "none";
    else if (is_replay(a.answer))
      kind = "replayed";
    else if (!mark.empty())
      kind = mark;
    ++counts["answers " + kind];
  }
  counts["sightings"] = h.sightings.size();
  counts["windows without a store"] = h.store_gone.size();
  std::string text;
  for (const auto& [what, n] : counts) text += "  " + what + ": " + std::to_string(n) + "\n";
  return text;
}

}  // namespace idem::test
