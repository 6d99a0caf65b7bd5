// From an event to one line of the log, without the line feed. Pure; runs on the log's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/telemetry/log.hpp"

namespace idem::telemetry {

/// An event with copies of all that its caller had only views of.
struct event_entry {
  using value = std::variant<std::int64_t, double, bool, std::string>;

  event_entry(config::log_level at_level, std::string_view what, log_fields with);

  std::chrono::system_clock::time_point at;  ///< the time it was made
  config::log_level level;
  std::string event;
  std::vector<std::pair<std::string, value>> fields;
};

void append_line(std::string& out, const event_entry& e, config::log_format format);
/// Its level is always info, its event "request".
void append_line(std::string& out, const access_entry& e, config::log_format format);

}  // namespace idem::telemetry
