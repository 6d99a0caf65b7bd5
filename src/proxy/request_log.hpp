// What is counted of one request, and its line in the access log: once, when there is no more to be learnt of it.
#pragma once

#include <chrono>
#include <string_view>

#include "idem/telemetry/log.hpp"

namespace idem::proxy {

/// The entry, which everybody who has a part in the request fills. Most end with their exchange; one whose decision
/// comes later is handed over, and what stays behind counts and writes nothing.
class request_log : public telemetry::access_entry {
 public:
  /// @param counts must outlive this
  void begin(telemetry::route_block& counts, std::string_view client_address);
  /// False: nobody asks for a line, and only `what` is of use.
  bool has_line() const { return at != decltype(at){}; }

  /// The client has what it gets. Counts, and writes the line. What is filled in later, or a second end(), does
  /// nothing.
  void end();
  /// The client has what it gets, but who gets the entry will know more: it calls end() later, the time counts from
  /// now.
  request_log hand_over();

 private:
  void stop_clock();

  telemetry::route_block* counts_ = nullptr;
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace idem::proxy
