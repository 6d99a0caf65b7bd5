// What the kernel knows about this process, read at each scrape.
#pragma once

#include <cstdint>

namespace idem::telemetry {

struct process_stats {
  double start_time = 0;  ///< seconds since 1970
  double cpu_seconds = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t open_fds = 0;
  std::int64_t max_fds = 0;
};

/// Values that cannot be read (no /proc) stay 0.
process_stats read_process_stats();

}  // namespace idem::telemetry
