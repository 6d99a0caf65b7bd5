// What a new configuration changes beyond what its file says: the log tells the operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"

namespace idem::app {

/// Keys in which `next` differs from what the process was started with and what it goes on with until it is restarted.
std::vector<std::string_view> needing_restart(const config::snapshot& started, const config::snapshot& next);

/// A route that takes requests whose keys are new with the next configuration: the names of their records are other
/// ones.
struct key_space {
  std::string name;
  std::string before;  ///< the routes that took these requests, e.g. `v1, all`, ten by name; mostly the route itself
  /// The keys that make the difference, e.g. `namespace, scope`. Those of `fingerprint` count where the fingerprint is
  /// a part of a key.
  std::string changed;
};
/// In the order of the routes. What counts is who takes a request, whatever the routes are called: of several that
/// match, the first one. Where `store.redis.key_prefix` has changed these are all routes that take what one took
/// before. No keys are new where a request comes to, or from, no route or another one with `mode: off`.
std::vector<key_space> new_key_spaces(const config::snapshot& before, const config::snapshot& next);

}  // namespace idem::app
