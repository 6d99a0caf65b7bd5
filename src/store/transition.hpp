// The table of transitions as a plain function: what a command does to what stands there (docs/protocol.md,
// "Transitions"). The memory store and the Redis dialect without scripts go by it; the Lua scripts say the same, and
// the contract tests hold all of them to one table.
#pragma once

#include <cstdint>
#include <string_view>

#include "idem/store/store.hpp"

namespace idem::store {

/// What stands under a name at the moment of the decision.
struct standing {
  bool present = false;
  std::string_view value;  ///< empty for what is no text
  std::int64_t ttl = reply::no_record;
};

enum class write_kind : std::uint8_t {
  none,
  put,     ///< `value` with `ttl`
  extend,  ///< only the time to live
  erase,
  mark_revoked  ///< the state letter becomes R, with `ttl`
};

struct transition {
  verdict what = verdict::lost;
  write_kind write = write_kind::none;
};

transition decide(const command& c, const standing& s);

/// Whether waiters are told of this command's success, where it asks for that: it settles what they wait for.
inline bool wakes(op what) {
  return what == op::complete || what == op::release || what == op::declare || what == op::revoke ||
         what == op::resolve;
}

/// Where the state letter stands in a record.
inline constexpr std::size_t state_offset = 3;

}  // namespace idem::store
