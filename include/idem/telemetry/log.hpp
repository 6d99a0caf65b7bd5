// The structured log: one JSON object (or one text line) an event, on standard error, written by a thread of its own.
// All but start_log() and stop_log() may be called on any thread.
//
// Nobody waits for the output: past 16,384 lines in the queue access lines are dropped, past 4,096 more all are, and
// what was dropped is counted and reported.
//
// Never logged: keys, credentials, bodies, header values, queries. The path is logged only for requests that match no
// route (a route's path may hold the key).
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "idem/config/config.hpp"
#include "idem/telemetry/metrics.hpp"

namespace idem::telemetry {

using log_value = std::variant<std::int64_t, double, bool, std::string_view>;
using log_fields = std::initializer_list<std::pair<std::string_view, log_value>>;

/// Starts the log's thread. Before it, and after stop_log(), lines are written at once, on the thread that logs.
void start_log(const config::logging_config& settings);
/// Takes up level, format and access of a new configuration; lines that are queued by then are written in the new
/// format.
void reconfigure_log(const config::logging_config& settings);
/// Writes what is queued and ends the thread; gives up after 5 s when standard error takes nothing.
void stop_log();

void debug(std::string_view event, log_fields fields = {});
void info(std::string_view event, log_fields fields = {});
void warn(std::string_view event, log_fields fields = {});
void error(std::string_view event, log_fields fields = {});

/// One request, for the access log. Copied into a queue; formatted off the request's thread. Small strings only.
struct access_entry {
  std::chrono::system_clock::time_point at;
  std::string method;    ///< at most 32 bytes are kept
  std::string route;     ///< name, or empty
  std::string path;      ///< only without a route; at most 256 bytes are kept
  std::string key_hash;  ///< hash of the record's name, or empty
  std::string client;    ///< address
  decision what = decision::passed;
  unsigned status = 0;  ///< 0 = no answer was sent
  unsigned attempt = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;  ///< bodies
  std::chrono::microseconds total{}, upstream{}, store{};
  std::string_view fault;   ///< literal: whose fault and where, e.g. "client/aborted"; empty = none
  std::string_view reason;  ///< literal, never bytes of the request: why it is `malformed`; empty = it is not
};
/// `logging.access`; the level has no say in it.
bool access_log_on();
void access(access_entry&& e);

}  // namespace idem::telemetry
