#include "config/units.hpp"

#include <array>
#include <charconv>
#include <cstdint>

#include "idem/text/ascii.hpp"

namespace idem::config {
namespace {

using std::chrono::milliseconds;

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<unit, 5> time_units{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::uint64_t most_milliseconds = 3650ull * 86'400'000ull;

constexpr std::array<unit, 7> size_units{{{"GiB", 1ull << 30},
                                          {"Gi", 1ull << 30},
                                          {"MiB", 1ull << 20},
                                          {"Mi", 1ull << 20},
                                          {"KiB", 1ull << 10},
                                          {"Ki", 1ull << 10},
                                          {"B", 1}}};
constexpr std::uint64_t most_bytes = 1ull << 40;

constexpr const char* duration_form = "expected a duration such as 250ms, 15s, 5m, 1h30m or 3d";
constexpr const char* size_form = "expected a size such as 512B, 64KiB or 1MiB";

/// A number and the letters behind it, taken from the front of `rest`.
struct part {
  bool digits = false;
  bool overflow = false;
  std::uint64_t number = 0;
  std::string_view suffix;
};

part take_part(std::string_view& rest) {
  part p;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), p.number);
  p.digits = end != rest.data();
  p.overflow = error == std::errc::result_out_of_range;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  std::size_t letters = 0;
  while (letters < rest.size() && !text::is_digit(rest[letters])) ++letters;
  p.suffix = rest.substr(0, letters);
  rest.remove_prefix(letters);
  return p;
}

}  // namespace

parsed<milliseconds> parse_duration(std::string_view text) {
  using result = parsed<milliseconds>;
  std::uint64_t total = 0;
  std::size_t next_unit = 0;
  std::string_view rest = text;
  do {
    const part p = take_part(rest);
    if (!p.digits) return result::fail(std::string("is no duration, ") + duration_form);
    if (p.suffix.empty()) return result::fail(std::string("has no unit, ") + duration_form);
    if (p.suffix.starts_with('.')) return result::fail("is no whole number, expected for example 1s500ms");
    std::size_t which = 0;
    while (which < time_units.size() && time_units[which].name != p.suffix) ++which;
    if (which == time_units.size()) return result::fail(std::string("has an unknown unit, ") + duration_form);
    if (which < next_unit) return result::fail("has its units in the wrong order, expected for example 1h30m");
    next_unit = which + 1;
    if (p.overflow || p.number > most_milliseconds / time_units[which].factor) {
      return result::fail("is too long, expected at most 3650d");
    }
    total += p.number * time_units[which].factor;
  } while (!rest.empty());
  if (total > most_milliseconds) return result::fail("is too long, expected at most 3650d");
  return milliseconds(total);
}

parsed<std::size_t> parse_size(std::string_view text) {
  using result = parsed<std::size_t>;
  std::string_view rest = text;
  const part p = take_part(rest);
  if (!p.digits || !rest.empty()) return result::fail(std::string("is no size, ") + size_form);
  if (p.suffix.empty()) return result::fail(std::string("has no unit, ") + size_form);
  for (const unit& u : size_units) {
    if (u.name != p.suffix) continue;
    if (p.overflow || p.number > most_bytes / u.factor) return result::fail("is too large, expected at most 1024GiB");
    return static_cast<std::size_t>(p.number * u.factor);
  }
  return result::fail(std::string("has an unknown unit, ") + size_form);
}

std::string show_duration(milliseconds value) {
  if (value.count() <= 0) return "0s";
  auto left = static_cast<std::uint64_t>(value.count());
  std::string out;
  for (const unit& u : time_units) {
    if (left >= u.factor) out += std::to_string(left / u.factor) + std::string(u.name);
    left %= u.factor;
  }
  return out;
}

std::string show_size(std::size_t value) {
  for (const unit& u : size_units) {
    if (value >= u.factor && value % u.factor == 0) return std::to_string(value / u.factor) + std::string(u.name);
  }
  return "0B";
}

}  // namespace idem::config
