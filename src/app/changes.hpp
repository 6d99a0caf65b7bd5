// What a new configuration changes beyond what its file says: the log tells the operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"

namespace idem::app {

/// Keys in which `next` differs from what the process was started with and what it goes on with until it is restarted.
std::vector<std::string_view> needing_restart(const config::snapshot& started, const config::snapshot& next);

/// A route whose keys are all new: its namespace, scope or key sources are other ones than those of the route `before`.
struct key_space {
  std::string name, before;  ///< the same but for a route that has another name now
};
std::vector<key_space> new_key_spaces(const config::snapshot& before, const config::snapshot& next);

}  // namespace idem::app
