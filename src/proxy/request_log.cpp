#include "proxy/request_log.hpp"

#include <utility>

namespace idem::proxy {

void request_log::begin(telemetry::route_block& counts, std::string_view client_address) {
  *this = {};
  counts_ = &counts;
  if (!telemetry::access_log_on()) return;
  began_ = std::chrono::steady_clock::now();
  at = std::chrono::system_clock::now();
  client = client_address;
}

void request_log::stop_clock() {
  if (!has_line() || total.count() != 0) return;
  total = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began_);
}

void request_log::end() {
  auto* counts = std::exchange(counts_, nullptr);
  if (!counts) return;
  counts->count(what);
  // one that began before the log was switched on has nothing to tell
  if (!telemetry::access_log_on() || !has_line()) return;
  stop_clock();
  telemetry::access(std::move(*this));
}

request_log request_log::hand_over() {
  stop_clock();
  return std::exchange(*this, {});
}

}  // namespace idem::proxy
