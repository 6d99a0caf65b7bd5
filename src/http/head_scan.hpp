// Finds the end of a head and decides what can be decided before it has come: limits, line ends, the first line's
// shape.
//
// The verdict depends on the bytes alone, not on how they were cut into pieces: every check belongs to a position, and
// the first position that fails decides.
#pragma once

#include <string_view>

#include "idem/http/parser.hpp"

namespace idem::http {

/// No rejection.
inline constexpr rejection fine{0, {}};

/// How a kind of message judges its first line. Both functions are pure; an empty reason means that nothing is wrong.
struct first_line_rules {
  /// Of a line whose end has not come yet. What it refuses it must refuse of every longer line as well.
  rejection (*partial)(std::string_view line, const head_limits& limits);
  /// Of a whole line, without its CRLF. Called only after `partial` has found nothing in it.
  rejection (*whole)(std::string_view line, const head_limits& limits);
};

/// Goes on where `scan` stands. On complete, `scan.next` is the size of the head with its blank line, and the message
/// starts at `scan.start`.
parse_result scan_head(std::string_view bytes, head_scan& scan, const head_limits& limits,
                       const first_line_rules& rules, rejection& why);

}  // namespace idem::http
