// What a new configuration changes beyond what its file says: the log tells the operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"

namespace idem::app {

/// Keys in which `next` differs from what the process was started with and what it goes on with until it is restarted.
std::vector<std::string_view> needing_restart(const config::snapshot& started, const config::snapshot& next);

/// A route whose keys are new with the next configuration: the names of their records are other ones.
struct key_space {
  std::string name, before;  ///< the same but for a route that has another name now
  /// The keys that make the difference, e.g. `namespace, scope`. Those of `fingerprint` count where the fingerprint is
  /// a part of a key.
  std::string changed;
};
/// In the order of the routes. Where `store.redis.key_prefix` has changed these are all routes that were there before.
std::vector<key_space> new_key_spaces(const config::snapshot& before, const config::snapshot& next);

}  // namespace idem::app
