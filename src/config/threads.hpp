// `server.threads: auto`.
#pragma once

#include <string>

namespace idem::config {

/// As many threads as the CPU quota of this process' cgroup allows (rounded up), never more than there are processors,
/// at most 4 and at least 1: a sidecar that takes all processors of a node starves what it stands beside.
/// @param root       prefix of /proc and /sys; empty but in tests
/// @param processors what the machine has, 0 = unknown
unsigned automatic_threads(const std::string& root, unsigned processors);

}  // namespace idem::config
