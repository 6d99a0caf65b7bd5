// The command line of an operator, beside a proxy that runs.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "scenario/scenario.hpp"

namespace idem::test {

struct outcome {
  int code = -1;
  std::string text;  ///< standard output and standard error
};

class an_operator : public on_redis {
 protected:
  /// `idempotency-proxy key VERB --config … MORE`
  outcome command(const std::string& verb, const std::string& more) const {
    const auto file = (proxy->folder().path() / "proxy.yaml").string();
    const std::string line = std::string(IDEM_BINARY) + " key " + verb + " --config " + file + " " + more + " 2>&1";
    outcome o;
    FILE* pipe = ::popen(line.c_str(), "r");
    if (!pipe) return o;
    char part[512];
    while (std::fgets(part, sizeof part, pipe)) o.text += part;
    const int status = ::pclose(pipe);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return o;
  }
  /// The same for one key of the route.
  outcome key(const std::string& verb, const std::string& more) const { return command(verb, "--route api " + more); }
};

}  // namespace idem::test
