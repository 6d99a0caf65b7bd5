// `key list|show|release|resolve`: what an operator can see of all keys and do about one, straight on the store, by
// compare-and-set on the state that was shown (docs/protocol.md, "Operators"). An unknown outcome must not be a dead
// end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/key_list.hpp"

namespace CLI {
class App;
}

namespace idem::app {

/// What the command line gave.
struct key_request {
  enum class verb { list, show, release, resolve };
  verb what = verb::show;
  std::string file;                      ///< --config
  std::string route;                     ///< --route
  std::string key;                       ///< --key: as the client sends it, for routes whose key stands in a header
  std::string hash;                      ///< --hash: as the log shows it
  std::vector<std::string> scope;        ///< --scope SOURCE=VALUE, e.g. header:X-Tenant=7 or Authorization=…
  std::string reason;                    ///< --reason, for the log
  unsigned status = 0;                   ///< --status of the answer that resolve stores
  std::vector<std::string> headers;      ///< --header 'Name: value'
  std::optional<std::string> body_file;  ///< --body FILE
  list_options list;                     ///< of `key list`, which has --config and no other of the above
};

/// Exit codes of these commands (beside 1 for a bad configuration or an unreachable store).
enum key_exit : int { key_done = 0, key_failed = 1, key_not_found = 2, key_changed = 3 };

/// Declares the subcommands; `chosen` is true after parsing when one of them was named.
void add_key_commands(CLI::App& cli, key_request& request, bool& chosen);

int run_key_command(const key_request& request);

}  // namespace idem::app
