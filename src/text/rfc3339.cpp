#include "idem/text/rfc3339.hpp"

#include <algorithm>
#include <chrono>

namespace idem::text {
namespace {

void append_digits(std::string& out, unsigned value, int width) {
  char text[4];
  for (int i = width; i > 0; value /= 10) text[--i] = static_cast<char>('0' + value % 10);
  out.append(text, static_cast<std::size_t>(width));
}

template <class Duration>
unsigned count_of(Duration d) {
  return static_cast<unsigned>(d.count());
}

}  // namespace

void append_rfc3339(std::string& out, std::int64_t unix_ms) {
  constexpr std::int64_t earliest = -62167219200000, latest = 253402300799999;
  const std::chrono::sys_time<std::chrono::milliseconds> t{
      std::chrono::milliseconds{std::clamp(unix_ms, earliest, latest)}};
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{t - day};
  append_digits(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  out += '-';
  append_digits(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_digits(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_digits(out, count_of(time.hours()), 2);
  out += ':';
  append_digits(out, count_of(time.minutes()), 2);
  out += ':';
  append_digits(out, count_of(time.seconds()), 2);
  out += '.';
  append_digits(out, count_of(time.subseconds()), 3);
  out += 'Z';
}

}  // namespace idem::text
