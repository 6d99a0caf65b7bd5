// What a new connection says first: who we are, which database, a probe of what the server lets us do, and the question
// whether it may throw our records away. Sent as one pipeline, with a second one to a server that runs no scripts: a
// probe of transactions. A server that refuses any of it, or that may evict records where that is not allowed, is
// treated as one that cannot be reached: what claims but cannot complete would execute without a record.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"
#include "store/redis/exchange.hpp"
#include "store/redis/resp_reader.hpp"

namespace idem::store::redis {

class handshake {
 public:
  enum class state : std::uint8_t { going_on, ready, failed };

  /// @param probe whether to ask about scripts, writes and eviction: not for a connection that only listens
  handshake(const config::redis_config& settings, std::string_view password, bool probe);

  void begin(std::string& out);
  /// @param out what is to be said next is appended to it
  state on_reply(const resp_value& v, std::string& out);

  dialect how() const { return how_; }
  /// Why it failed, for the log: fixed words, never what the server said (which may quote a secret).
  std::string_view reason() const { return reason_; }

 private:
  enum class part : std::uint8_t { authenticate, select, probe, policy_by_config, policy_by_info, transaction };
  state on_part(part p, const resp_value& v);
  state on_probe(const resp_value& v);
  state on_policy(const resp_value& info);
  void try_transactions(std::string& out);
  state on_transaction(const resp_value& v);
  state fail(std::string_view reason);

  const config::redis_config& settings_;
  std::string password_;
  std::vector<part> parts_;
  std::size_t next_ = 0;
  dialect how_ = dialect::scripts;
  resp_value policy_by_config_;
  std::string_view reason_;
};

/// The password to use now: the file's content without its last line end if there is a file that can be read, else
/// the one that was configured.
std::string current_password(const config::redis_config& settings);

}  // namespace idem::store::redis
