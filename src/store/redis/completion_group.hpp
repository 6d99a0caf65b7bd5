// Completions of one turn of the loop in one call of a script: the call costs the server more than what is done in it.
//
// Only the usual case is decided there, an own P that becomes an answer. Whatever else the script finds, a refused
// write too, it leaves as it is and says so; then that completion is asked again by its own script, which knows all
// cases. So a group changes when a command is carried out, never how. Its records may lie anywhere in one server: names
// of a Redis Cluster would have to be grouped by their slot.
#pragma once

#include <boost/container/static_vector.hpp>

#include <bitset>
#include <cstddef>
#include <optional>
#include <string>

#include "idem/store/store.hpp"
#include "store/redis/resp_reader.hpp"
#include "store/redis/server_error.hpp"

namespace idem::store::redis {

/// The server serves nobody else while a script runs: sixteen small answers are some 50 µs.
inline constexpr std::size_t group_limit = 16, group_value_limit = 4096;

/// Whether a command may be one of a group: a completion with a small answer that nobody waits for.
bool may_be_grouped(const command& c);

using group_members = boost::container::static_vector<const command*, group_limit>;

/// @param whole_text EVAL instead of EVALSHA
void append_group(std::string& out, const group_members& members, bool whole_text);

struct group_reply {
  enum class kind : std::uint8_t {
    decided,         ///< each member that is not in `alone` is stored
    unknown_script,  ///< nothing was carried out: the server wants the whole text
    failed           ///< `fault` holds for every member, and may have been carried out for any
  };
  kind what = kind::failed;
  std::bitset<group_limit> alone;  ///< members for which nothing was done: to be asked alone
  server_error fault = server_error::unknown;
};

/// @param size of the group
group_reply read_group_reply(const resp_value& v, std::size_t size);

}  // namespace idem::store::redis
