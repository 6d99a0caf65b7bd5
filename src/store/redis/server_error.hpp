// What an error reply says about the server, by its first word; of denials in scripts and by EXEC, by more of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace idem::store::redis {

enum class server_error : std::uint8_t {
  full,         ///< OOM: takes no writes that need memory; leases are still renewed
  refused,      ///< MISCONF, NOREPLICAS: takes no writes at all, still reads
  no_script,    ///< NOSCRIPT: send the text
  wrong_type,   ///< what stands there is no string
  aborted,      ///< EXECABORT: a queued command was refused before
  read_only,    ///< a replica; another connection may find the master
  no_auth,      ///< NOAUTH, WRONGPASS; another connection may use another password
  denied,       ///< NOPERM, also in a script; another connection may find another way to ask
  not_serving,  ///< LOADING, MASTERDOWN, CLUSTERDOWN, MOVED and relatives: nothing was executed
  unknown       ///< anything else; a script may have stopped half-way
};

server_error classify(std::string_view error);

inline bool refuses_writes(server_error e) { return e == server_error::full || e == server_error::refused; }

/// Whether a new connection may put it right, since the server is looked at anew with each.
inline bool asks_for_a_new_connection(server_error e) {
  return e == server_error::read_only || e == server_error::no_auth || e == server_error::denied;
}

/// Whether the server said that it did not execute the command.
bool surely_not_executed(server_error e);

}  // namespace idem::store::redis
