// `check`, and what it shares with starting: printing findings.
#pragma once

#include <string>
#include <string_view>

#include "idem/config/load.hpp"

namespace idem::app {

/// Prints every finding; exit code 0 or 1.
int check(const std::string& file);

/// Prints findings to standard error, one a line.
void print(const config::load_result& result);

/// `host:port`, `[v6]:port` or `unix:/path` of the command line.
bool parse_admin_address(std::string_view text, config::endpoint& out);

}  // namespace idem::app
