// What a new configuration changes beyond what its file says: the log tells the operator.
#pragma once

#include <string_view>
#include <vector>

#include "idem/config/config.hpp"

namespace idem::app {

/// Keys in which `next` differs from what the process was started with and what it goes on with until it is restarted.
std::vector<std::string_view> needing_restart(const config::snapshot& started, const config::snapshot& next);

}  // namespace idem::app
