#include "http/head_scan.hpp"

#include <algorithm>
#include <cstring>

namespace idem::http {
namespace {

constexpr std::string_view bare_line_feed = "a line ends with a bare line feed";

/// @param line with its carriage return but without its line feed
rejection judge_first_line(std::string_view line, const head_limits& limits, const first_line_rules& rules) {
  if (rejection r = rules.partial(line, limits); !r.reason.empty()) return r;
  if (line.empty() || line.back() != '\r') return {400, bare_line_feed};
  line.remove_suffix(1);
  return rules.whole(line, limits);
}

/// @param before number of lines before this one, that is the number of fields with it
rejection judge_field_line(std::string_view line, std::size_t before, const head_limits& limits) {
  if (line.empty() || line.back() != '\r') return {400, bare_line_feed};
  if (line.front() == ' ' || line.front() == '\t') return {400, "a field line is folded or starts with white space"};
  if (before > limits.fields) return {431, "too many fields"};
  return fine;
}

parse_result reject(rejection& why, rejection r) {
  why = r;
  return parse_result::rejected;
}

}  // namespace

parse_result scan_head(std::string_view bytes, head_scan& scan, const head_limits& limits,
                       const first_line_rules& rules, rejection& why) {
  const std::string_view window = bytes.substr(0, limits.header_bytes);
  while (scan.next < window.size()) {
    const void* found = std::memchr(window.data() + scan.next, '\n', window.size() - scan.next);
    if (!found) break;
    const auto lf = static_cast<std::size_t>(static_cast<const char*>(found) - window.data());
    const std::string_view line = window.substr(scan.line, lf - scan.line);
    if (line.size() == 1 && line.front() == '\r' && scan.lines > 0) {
      scan.next = lf + 1;
      return parse_result::complete;
    }
    const rejection r =
        scan.lines == 0 ? judge_first_line(line, limits, rules) : judge_field_line(line, scan.lines, limits);
    if (!r.reason.empty()) return reject(why, r);
    ++scan.lines;
    scan.line = scan.next = lf + 1;
  }
  scan.next = std::max(scan.next, window.size());
  if (scan.lines == 0 && scan.line < window.size()) {
    if (rejection r = rules.partial(window.substr(scan.line), limits); !r.reason.empty()) return reject(why, r);
  }
  if (bytes.size() >= limits.header_bytes) return reject(why, {431, "the head is too large"});
  return parse_result::need_more;
}

}  // namespace idem::http
