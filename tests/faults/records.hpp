// The records of a Redis, read behind the proxies' backs.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "faults/history.hpp"

namespace idem::test {

/// A record from its text (docs/protocol.md, "One record per key"), read independently of the proxy's own reader.
stored_record read_record(std::string name, std::string_view text, std::int64_t ttl_ms);

/// All records at one moment.
std::vector<stored_record> read_records(std::uint16_t redis_port);

/// Looks at all records again and again, on a thread of its own, and notes what changed.
class watcher {
 public:
  watcher(std::uint16_t redis_port, recorder& into);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

 private:
  void watch(std::uint16_t redis_port);

  recorder& into_;
  std::map<std::string, std::string> last_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace idem::test
