// The lists `final`, `release` and `unknown`: what a status means for the record.
#include <set>

#include "config/draft.hpp"

namespace idem::config {
namespace {

constexpr disposition dispositions[] = {disposition::final, disposition::release, disposition::unknown};

/// `404` or `4xx`.
std::optional<status_entry> parse_status(const scalar& value) {
  const std::string& text = value.text;
  const bool shape = text.size() == 3 && text[0] >= '1' && text[0] <= '5';
  if (!shape) return std::nullopt;
  const auto digit = [&](std::size_t i) { return static_cast<unsigned>(text[i] - '0'); };
  if (text.substr(1) == "xx") return status_entry{digit(0), true, value.at};
  if (digit(1) > 9 || digit(2) > 9) return std::nullopt;
  return status_entry{digit(0) * 100 + digit(1) * 10 + digit(2), false, value.at};
}

std::string show(const status_entry& entry) {
  return entry.is_class ? std::to_string(entry.value) + "xx" : std::to_string(entry.value);
}

}  // namespace

std::vector<status_entry> read_status_list(report& out, const std::vector<scalar>& values) {
  std::vector<status_entry> entries;
  for (const scalar& value : values) {
    const auto entry = parse_status(value);
    if (entry) entries.push_back(*entry);
    if (!entry) {
      out.error(value.at, value.shown + " is no status, expected a code from 100 to 599 or a class such as 5xx");
    }
  }
  return entries;
}

void read_statuses(const section& statuses, idempotency_draft& out) {
  bool given = false;
  for (std::size_t i = 0; i < out.statuses.size(); ++i) {
    const auto values = statuses.texts(schema::statuses.keys[i], "status codes or classes such as [404, 5xx]");
    if (!values) continue;
    given = true;
    out.statuses[i] = read_status_list(statuses.out(), *values);
  }
  if (!given) return;
  out.config.statuses = {};
  for (std::size_t i = 0; i < out.statuses.size(); ++i) {
    for (const status_entry& entry : out.statuses[i]) {
      auto& table = entry.is_class ? out.config.statuses.classes : out.config.statuses.codes;
      const auto [earlier, fresh] = table.emplace(entry.value, dispositions[i]);
      if (fresh) continue;
      const bool same_list = earlier->second == dispositions[i];
      statuses.out().error(entry.at, show(entry) + (same_list ? " stands twice in the list"
                                                              : " stands in two lists, expected it in one"));
    }
  }
}

}  // namespace idem::config
