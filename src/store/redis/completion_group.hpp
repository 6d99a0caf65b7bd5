// Completions of one turn of the loop in one call of a script: the call costs the server more than what is done in it.
// Each member ends as its own script would have ended it.
#pragma once

#include <boost/container/static_vector.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "idem/store/store.hpp"
#include "store/redis/resp_reader.hpp"
#include "store/redis/server_error.hpp"

namespace idem::store::redis {

/// The server serves nobody else while a script runs: sixteen small answers are some 50 µs.
inline constexpr std::size_t group_limit = 16, group_value_limit = 4096;

/// Whether a command may be one of a group: a completion with a small answer that nobody waits for, and that wants to
/// know what stands there.
bool may_be_grouped(const command& c);

using group_members = boost::container::static_vector<const command*, group_limit>;

/// @param whole_text EVAL instead of EVALSHA
void append_group(std::string& out, const group_members& members, bool whole_text);

struct group_reply {
  enum class kind : std::uint8_t {
    decided,         ///< each member as its entry in `replies` says
    unknown_script,  ///< nothing was carried out: the server wants the whole text
    not_together,    ///< nothing was carried out: to this server the records are of different places
    failed           ///< `fault` holds for every member
  };
  kind what = kind::failed;
  /// What the member's own script would have replied, in `v`; none where that is `code_done`.
  std::array<resp_value*, group_limit> replies = {};
  server_error fault = server_error::unknown;
};

/// @param v must outlive the result
/// @param size of the group
group_reply read_group_reply(resp_value& v, std::size_t size);

}  // namespace idem::store::redis
