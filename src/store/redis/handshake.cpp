#include "store/redis/handshake.hpp"

#include <fstream>
#include <iterator>

#include "store/redis/eviction_check.hpp"
#include "store/redis/resp_writer.hpp"
#include "store/redis/scripts.hpp"

namespace idem::store::redis {

handshake::handshake(const config::redis_config& settings, std::string_view password, bool probe)
    : settings_(settings), password_(password) {
  if (!password_.empty() || !settings_.username.empty()) parts_.push_back(part::authenticate);
  if (settings_.database != 0) parts_.push_back(part::select);
  if (!probe) return;
  parts_.push_back(part::probe);
  // with each connection, since the server behind the address can be another one each time
  if (!settings_.allow_eviction) parts_.insert(parts_.end(), {part::policy_by_config, part::policy_by_info});
}

void handshake::begin(std::string& out) {
  for (const auto p : parts_) switch (p) {
      case part::authenticate:
        if (settings_.username.empty())
          append_command(out, {"AUTH", password_});
        else
          append_command(out, {"AUTH", settings_.username, password_});
        break;
      case part::select: append_command(out, {"SELECT", decimal(settings_.database)}); break;
      case part::probe: append_command(out, {"EVAL", probe_script(), "1", settings_.key_prefix + "{probe}"}); break;
      case part::policy_by_config: append_command(out, {"CONFIG", "GET", "maxmemory-policy"}); break;
      case part::policy_by_info: append_command(out, {"INFO", "memory"}); break;
      case part::transaction: break;  // see try_transactions()
    }
  // a connection that needs none of it still has to hear the server once before it counts as one to Redis
  if (parts_.empty()) append_command(out, {"PING"});
}

handshake::state handshake::on_reply(const resp_value& v, std::string& out) {
  if (parts_.empty()) {
    if (!v.is(resp_type::error)) return state::ready;
    return fail(classify(v.text) == server_error::no_auth ? "authentication required" : "the server is not serving");
  }
  const auto s = on_part(parts_[next_++], v);
  if (s == state::failed) return s;
  if (next_ == parts_.size() && how_ == dialect::transactions && parts_.back() != part::transaction)
    try_transactions(out);
  return next_ < parts_.size() ? state::going_on : s;
}

handshake::state handshake::on_part(part p, const resp_value& v) {
  switch (p) {
    case part::probe: return on_probe(v);
    case part::policy_by_config: policy_by_config_ = v; return state::ready;
    case part::policy_by_info: return on_policy(v);
    case part::transaction: return on_transaction(v);
    case part::authenticate:
    case part::select: break;
  }
  if (!v.is(resp_type::error)) return state::ready;
  return fail(p == part::authenticate ? "authentication refused" : "database refused");
}

handshake::state handshake::on_probe(const resp_value& v) {
  if (!v.is(resp_type::error)) {
    if (v.is(resp_type::integer) && v.integer == probed_set_get) how_ = dialect::scripts_and_set_get;
    return state::ready;
  }
  switch (classify(v.text)) {
    case server_error::read_only: return fail("the server is a read-only replica");
    case server_error::no_auth: return fail("authentication required");
    case server_error::not_serving:
      if (v.text.starts_with("MOVED")) return fail("the server holds only a part of a cluster");
      return fail("the server is not serving");
    case server_error::full:
    case server_error::refused: return state::ready;
    default: break;
  }
  how_ = dialect::transactions;
  return state::ready;
}

// A server that tells neither way is one that forbids both: that alone is no reason to go without it.
handshake::state handshake::on_policy(const resp_value& info) {
  const auto policy = eviction_policy(policy_by_config_, info);
  if (policy.empty() || policy == "noeviction") return state::ready;
  return fail("the server may evict records");
}

// All that a transaction_exchange and a claim can send, without effect.
void handshake::try_transactions(std::string& out) {
  const std::string key = settings_.key_prefix + "{probe}";
  append_command(out, {"WATCH", key});
  append_command(out, {"GET", key});
  append_command(out, {"GETRANGE", key, "0", "41"});
  append_command(out, {"PTTL", key});
  append_command(out, {"UNWATCH"});
  append_command(out, {"MULTI"});
  append_command(out, {"SET", key, "", "NX", "XX"});
  append_command(out, {"PEXPIRE", key, "1000"});
  append_command(out, {"DEL", key});
  append_command(out, {"EXEC"});
  parts_.insert(parts_.end(), 10, part::transaction);
}

handshake::state handshake::on_transaction(const resp_value& v) {
  if (!v.is(resp_type::error)) return state::ready;
  switch (classify(v.text)) {
    case server_error::read_only: return fail("the server is a read-only replica");
    case server_error::not_serving: return fail("the server is not serving");
    case server_error::denied:
    case server_error::unknown: return fail("the server allows neither scripts nor transactions");
    default: return state::ready;
  }
}

handshake::state handshake::fail(std::string_view reason) {
  reason_ = reason;
  return state::failed;
}

std::string current_password(const config::redis_config& settings) {
  if (settings.password_file.empty()) return settings.password;
  std::ifstream file(settings.password_file, std::ios::binary);
  if (!file) return settings.password;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace idem::store::redis
