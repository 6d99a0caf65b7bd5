// Durations (`250ms`, `1h30m`) and sizes (`64KiB`): docs/configuration.md, "Values".
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "config/parsed.hpp"

namespace idem::config {

/// Parts of falling unit, each a whole number with ms, s, m, h or d. At most ten years.
parsed<std::chrono::milliseconds> parse_duration(std::string_view text);

/// A whole number with B, Ki, KiB, Mi, MiB, Gi or GiB. At most 1024 GiB.
parsed<std::size_t> parse_size(std::string_view text);

/// In the notation that parse_duration reads, e.g. `1h30m`; `0s` for nothing.
std::string show_duration(std::chrono::milliseconds value);

/// In the largest unit that divides it, e.g. `60KiB`.
std::string show_size(std::size_t value);

}  // namespace idem::config
