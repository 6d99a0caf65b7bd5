// `check`, and what it shares with starting: printing findings.
#pragma once

#include <string>
#include <string_view>

#include "idem/config/load.hpp"

namespace idem::app {

struct check_options {
  std::string file;
  bool show = false;      ///< print the routes as they are in force, presets expanded
  double per_second = 0;  ///< not 0: print what the records of this many new keys a second take, for each route
};

/// Prints every finding and, of a good file, the times of each route; exit code 0 or 1.
int check(const check_options& options);

/// Prints findings to standard error, one a line.
void print(const config::load_result& result);

/// `host:port`, `[v6]:port` or `unix:/path` of the command line.
bool parse_admin_address(std::string_view text, config::endpoint& out);

}  // namespace idem::app
