// What two routes both take: patterns of paths, laid over each other.
#include <algorithm>
#include <optional>

#include "idem/config/route_match.hpp"

namespace idem::config {
namespace {

// Paths of a configuration are visible characters, so these two mean nothing else. The first is a segment that no route
// names as well.
constexpr char any_segment = '\x01';
constexpr char any_end = '\x02';

std::string pattern_of(const route_match& match) {
  using kind = route_match::path_kind;
  std::string out;
  switch (match.kind) {
    case kind::any: return {any_end};
    case kind::exact: return match.path;
    case kind::prefix: return match.path + any_end;
    case kind::templated:
      for (const auto& segment : match.segments) {
        out += '/';
        segment.starts_with('{') ? out += any_segment : out += segment;
      }
  }
  return out;
}

/// Takes a segment from the front of `named`, which has any there, and of `other`. False: there is none that fits both.
bool take_segment(std::string_view& named, std::string_view& other, std::string& out) {
  named.remove_prefix(1);
  if (other.front() == any_segment) {
    other.remove_prefix(1);
    out += any_segment;
    return true;
  }
  const auto literal = other.substr(0, other.find_first_of(std::string{'/', any_end}));
  if (literal.empty()) return false;
  out += literal;
  other.remove_prefix(literal.size());
  if (other.starts_with(any_end)) out += any_segment;  // a prefix ends within this segment
  return true;
}

/// The pattern of the paths that fit both.
std::optional<std::string> common_pattern(std::string_view a, std::string_view b) {
  std::string out;
  while (!a.empty() && !b.empty()) {
    if (a.front() == any_end) return out.append(b);
    if (b.front() == any_end) return out.append(a);
    if (a.front() == any_segment || b.front() == any_segment) {
      const bool fits = a.front() == any_segment ? take_segment(a, b, out) : take_segment(b, a, out);
      if (!fits) return std::nullopt;
      continue;
    }
    if (a.front() != b.front()) return std::nullopt;
    out += a.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  const auto rest = a.empty() ? b : a;
  const bool ends = rest.empty() || rest.front() == any_end;
  return ends ? std::optional(out) : std::nullopt;
}

/// A path of the pattern. What may end in any way ends deeper than templates do: those take no more than one depth.
std::string example_of(std::string pattern, std::string_view method) {
  constexpr std::size_t deep = 256;
  if (!pattern.ends_with(any_end)) return pattern;
  pattern.pop_back();
  if (pattern.empty()) {
    if (method == "OPTIONS") return "*";  // the one target that no prefix takes
    pattern = '/';
  }
  return pattern + any_segment + std::string(deep, '/');
}

std::optional<std::string> common_host(const route_match& a, const route_match& b) {
  if (a.host.empty() || a.host == b.host) return b.host;
  return b.host.empty() ? std::optional(a.host) : std::nullopt;
}

}  // namespace

std::vector<request_example> common_requests(const route_match& a, const route_match& b) {
  std::vector<request_example> out;
  const auto host = common_host(a, b);
  if (!host) return out;
  const auto pattern = common_pattern(pattern_of(a), pattern_of(b));
  if (!pattern) return out;
  for (const auto& method : a.methods) {
    if (std::find(b.methods.begin(), b.methods.end(), method) == b.methods.end()) continue;
    out.push_back({method, *host, example_of(*pattern, method)});
  }
  return out;
}

}  // namespace idem::config
