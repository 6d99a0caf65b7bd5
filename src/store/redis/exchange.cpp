#include "store/redis/exchange.hpp"

namespace idem::store::redis {
namespace {

using any_exchange = std::variant<claim_exchange, script_exchange, transaction_exchange>;

any_exchange choose(const command& c, dialect how, std::string_view key_prefix) {
  if (c.what == op::claim) return claim_exchange(c, how == dialect::scripts_and_set_get);
  if (how == dialect::transactions) return transaction_exchange(c, key_prefix);
  return script_exchange(c, key_prefix);
}

}  // namespace

step step::failed(server_error e, bool may_have_taken_effect) {
  step s;
  s.what = kind::finished;
  s.fault = e;
  s.result.what = refuses_writes(e) ? verdict::refused : verdict::unavailable;
  s.result.write_refused = refuses_writes(e);
  s.result.sent = !refuses_writes(e) && may_have_taken_effect;
  return s;
}

exchange::exchange(const command& c, dialect how, std::string_view key_prefix) : how_(choose(c, how, key_prefix)) {}

void exchange::begin(std::string& out) {
  std::visit([&](auto& e) { e.begin(out); }, how_);
}

step exchange::on_reply(resp_value&& v, std::string& out) {
  return std::visit([&](auto& e) { return e.on_reply(std::move(v), out); }, how_);
}

}  // namespace idem::store::redis
