#include "config/threads.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <vector>

namespace idem::config {
namespace {

constexpr unsigned most_threads = 4;

struct cgroup_paths {
  std::optional<std::string> unified;  ///< v2
  std::optional<std::string> cpu;      ///< v1
};

/// /proc/self/cgroup: lines `ID:CONTROLLERS:PATH`, without controllers for version 2.
cgroup_paths own_cgroups(const std::string& root) {
  cgroup_paths paths;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers == ",,") paths.unified = line.substr(second + 1);
    if (controllers.find(",cpu,") != std::string::npos) paths.cpu = line.substr(second + 1);
  }
  return paths;
}

/// `/a/b`, `/a` and ``: a quota of any level holds for all below it.
std::vector<std::string> with_parents(std::string path) {
  std::vector<std::string> all;
  while (!path.empty() && path != "/") {
    all.push_back(path);
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  all.emplace_back();
  return all;
}

std::optional<double> quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return std::nullopt;
  return std::strtod(quota.c_str(), nullptr) / period;
}

std::optional<double> quota_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

/// The smallest quota, in processors, of the process' cgroup and those above it; infinite if there is none. In a
/// container the path may be that of the host, which is not visible: then the mount's root is the container's own.
double smallest_quota(const std::string& root) {
  const cgroup_paths paths = own_cgroups(root);
  double smallest = std::numeric_limits<double>::infinity();
  const auto take = [&](std::optional<double> quota) { smallest = std::min(smallest, quota.value_or(smallest)); };
  for (const std::string& path : with_parents(paths.unified.value_or("")))
    take(quota_v2(root + "/sys/fs/cgroup" + path));
  for (const std::string& path : with_parents(paths.cpu.value_or(""))) {
    for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) take(quota_v1(root + mount + path));
  }
  return smallest;
}

}  // namespace

unsigned automatic_threads(const std::string& root, unsigned processors) {
  const double available = processors == 0 ? 1.0 : processors;
  const double allowed = std::min({std::ceil(smallest_quota(root)), available, double{most_threads}});
  return static_cast<unsigned>(std::max(allowed, 1.0));
}

}  // namespace idem::config
