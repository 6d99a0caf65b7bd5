#include "telemetry/process.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace idem::telemetry {
namespace {

double read_start_time() {
  std::ifstream stat("/proc/self/stat");
  std::string line;
  std::getline(stat, line);
  // the second field, the program's name in parentheses, may hold blanks and parentheses itself
  auto after_name = line.rfind(')');
  if (after_name == std::string::npos) return 0;
  std::istringstream rest(line.substr(after_name + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) rest >> skipped;
  double ticks = 0;
  if (!(rest >> ticks)) return 0;

  timespec now{}, up{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  ::clock_gettime(CLOCK_BOOTTIME, &up);
  auto seconds = [](const timespec& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9; };
  return seconds(now) - seconds(up) + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::int64_t read_resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  if (!(statm >> total >> resident)) return 0;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::int64_t count_open_fds() {
  DIR* dir = ::opendir("/proc/self/fd");
  if (!dir) return 0;
  std::int64_t count = 0;
  while (const dirent* entry = ::readdir(dir)) count += entry->d_name[0] != '.';
  ::closedir(dir);
  return count - 1;  // less the directory's own
}

}  // namespace

process_stats read_process_stats() {
  // read once: the clock may be set while the process runs, its start must not move with it
  static const double start_time = read_start_time();
  process_stats s;
  s.start_time = start_time;
  timespec cpu{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  s.cpu_seconds = static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) / 1e9;
  s.resident_bytes = read_resident_bytes();
  s.open_fds = count_open_fds();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    s.max_fds = static_cast<std::int64_t>(limit.rlim_cur);
  }
  return s;
}

}  // namespace idem::telemetry
