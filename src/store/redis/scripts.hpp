// The transitions as Lua, each one atomic step (docs/protocol.md, "Transitions"). They say what store::decide() says.
#pragma once

#include <string>
#include <string_view>

#include "idem/store/store.hpp"

namespace idem::store::redis {

struct script {
  std::string text;
  std::string sha1;  ///< 40 lower-case hex digits, the name for EVALSHA
};

/// The script of a transition; none for `claim`, which is three plain commands.
/// KEYS[1] name; ARGV: expect, value, ttl, wake channel or "", limit. Replies `{code, value, ttl}`.
/// `complete` goes without the last two where nobody waits, and then may answer `code_done` alone: value "", ttl as
/// sent. Limit: take_over the hold; resolve to absent hold − lease; declare 1 with declare_x; release 1 for a first
/// attempt.
const script& script_of(op what);

/// Codes of replies.
inline constexpr int code_done = 0, code_recreated = 1, code_already = 2, code_lost = 3, code_found = 4,
                     code_absent = 5;

/// Several completions in one call. KEYS: the names; ARGV: for each the 42 bytes of the P that it replaces, value, ttl.
/// Replies `code_done` for all, or, for those that were not simply done, the number (from 1, ascending) and what the
/// script of `complete` replies, one after the other.
const script& completions_script();

/// Asks what the server can do, and leaves nothing behind, or for a second where DEL is denied. KEYS[1]: a name that is
/// used for nothing else. Replies `probed_set_get`, or 1 if it only runs scripts, or the error that a replica answers
/// writes with.
std::string_view probe_script();
/// It runs scripts, and SET with NX and GET writes where nothing stands, and else only reads.
inline constexpr int probed_set_get = 2;

}  // namespace idem::store::redis
