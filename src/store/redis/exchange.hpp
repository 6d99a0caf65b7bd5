// One command of the store as a conversation with the server: what to send, which replies to expect, what they mean.
// Plain objects without a socket: bytes are appended to an output, replies are handed in one by one, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "idem/store/store.hpp"
#include "store/redis/resp_reader.hpp"
#include "store/redis/server_error.hpp"
#include "store/transition.hpp"

namespace idem::store::redis {

/// How a server is spoken to. Found out by trying when a connection is made.
enum class dialect : std::uint8_t {
  scripts,              ///< EVALSHA, EVAL on NOSCRIPT
  scripts_and_set_get,  ///< the same, and a claim is one command, since SET takes NX and GET together
  transactions  ///< WATCH, MULTI, EXEC: for servers that refuse scripts; three round trips at most, one at a time
};

struct step {
  enum class kind : std::uint8_t {
    more,     ///< replies of what was sent are still to come
    again,    ///< more was appended to the output
    finished  ///< `result` holds
  };
  kind what = kind::more;
  reply result;
  std::optional<server_error> fault;  ///< what the server complained about, if it did
  bool took_write = false;  ///< the server took a write that needs memory, or would have if its condition had held

  static step wait() { return {}; }
  static step sent_more() { return {kind::again, {}, {}, false}; }
  static step done(reply r, bool took_write) { return {kind::finished, std::move(r), {}, took_write}; }
  /// Ends with `refused` or `unavailable`, as the error says.
  static step failed(server_error e, bool may_have_taken_effect);
};

/// SET NX, GET and PTTL in one pipeline, of which GET decides; or `SET NX GET`, and GET and PTTL where the server
/// refused the whole (docs/protocol.md, "Transitions").
class claim_exchange {
 public:
  claim_exchange(const command& c, bool set_gets) : c_(c), set_gets_(set_gets) {}
  void begin(std::string& out);
  step on_reply(resp_value&& v, std::string& out);
  bool has_read() const { return value_ && *value_ != c_.value; }

 private:
  enum class part : std::uint8_t { set, get, pttl };

  void read(std::string& out);
  bool set_refused() const { return set_error_ && refuses_writes(*set_error_); }
  step on_set(const resp_value& v);
  step on_set_get(resp_value&& v, std::string& out);
  step on_get(resp_value&& v);
  step conclude(const resp_value& pttl);
  step found(std::int64_t ttl);

  command c_;
  bool set_gets_;
  part next_ = part::set;  ///< of which the next reply is
  std::optional<server_error> set_error_, get_error_;
  std::optional<std::string> value_;
};

/// EVALSHA, and EVAL when the server does not know the script.
class script_exchange {
 public:
  script_exchange(const command& c, std::string_view key_prefix) : c_(c), key_prefix_(key_prefix) {}
  void begin(std::string& out) { send(out, false); }
  step on_reply(resp_value&& v, std::string& out);

 private:
  void send(std::string& out, bool whole_text);

  command c_;
  std::string_view key_prefix_;
  bool text_sent_ = false;
};

/// WATCH, GET, PTTL; then by store::decide() either UNWATCH or MULTI, the write, EXEC. Only one at a time may be in
/// flight on a connection: EXEC and UNWATCH end every watch.
class transaction_exchange {
 public:
  transaction_exchange(const command& c, std::string_view key_prefix) : c_(c), key_prefix_(key_prefix) {}
  void begin(std::string& out);
  step on_reply(resp_value&& v, std::string& out);

 private:
  enum class stage : std::uint8_t { looking, watching, writing, unwatching };

  void watch(std::string& out);
  step on_look(resp_value&& v);
  step on_watch(resp_value&& v, std::string& out);
  step decide_and_send(std::string& out);
  void send_write(std::string& out, write_kind write);
  step on_write(resp_value&& v, std::string& out);
  step conclude_write(std::string& out);
  step retry(std::string& out);

  command c_;
  std::string_view key_prefix_;
  stage stage_ = stage::looking;
  unsigned seen_ = 0, expected_ = 0, rounds_ = 0;
  bool present_ = false, needs_memory_ = false;
  std::string value_;
  std::int64_t ttl_ = reply::no_record;
  verdict verdict_ = verdict::lost;
  std::optional<server_error> error_;
  resp_value executed_;
};

class exchange {
 public:
  /// @param key_prefix must outlive the exchange, as must the views of `c`
  exchange(const command& c, dialect how, std::string_view key_prefix);

  void begin(std::string& out);
  step on_reply(resp_value&& v, std::string& out);
  /// A claim that has seen another's record, although it is not at its end.
  bool has_read() const {
    const auto* claim = std::get_if<claim_exchange>(&how_);
    return claim && claim->has_read();
  }
  bool serial() const { return std::holds_alternative<transaction_exchange>(how_); }

 private:
  std::variant<claim_exchange, script_exchange, transaction_exchange> how_;
};

}  // namespace idem::store::redis
