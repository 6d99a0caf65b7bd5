// Whether the server may throw our records away: then a key that was executed could be executed again. Here it is asked
// at the start, for a sentence to the user; the handshake of each connection for commands asks again.
#pragma once

#include <memory>
#include <string>

#include "store/redis/session.hpp"

namespace idem::store::redis {

/// Asks the server, synchronously, for at most the connect and the command timeout. Empty = fine, or not to be found
/// out now (logged); else a sentence for the user.
std::string check_eviction(const std::shared_ptr<shared_parts>& parts);

/// The policy in a reply to `CONFIG GET maxmemory-policy` or in the text of `INFO memory`; empty if it is not there.
std::string eviction_policy(const resp_value& config, const resp_value& info);

}  // namespace idem::store::redis
