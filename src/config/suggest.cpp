#include "config/suggest.hpp"

#include <algorithm>
#include <vector>

#include "idem/text/ascii.hpp"

namespace idem::config {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`, letters compared without case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c == '-' ? '_' : text::to_lower(c); };
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t longest = 48;
  if (word.empty() || word.size() > longest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) best = candidate, best_distance = distance;
  }
  if (best.empty() && word.size() >= 4) {
    const auto longer =
        std::find_if(known.begin(), known.end(), [&](std::string_view k) { return k.starts_with(word); });
    if (longer != known.end()) best = *longer;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const auto best = nearest(word, known);
  return best.empty() ? std::string() : " (did you mean \"" + std::string(best) + "\"?)";
}

}  // namespace idem::config
