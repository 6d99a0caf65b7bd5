#include "store/redis/exchange.hpp"
#include "store/redis/resp_writer.hpp"

namespace idem::store::redis {
namespace {

std::optional<server_error> error_of(const resp_value& v) {
  if (v.is(resp_type::error)) return classify(v.text);
  return {};
}

}  // namespace

void claim_exchange::begin(std::string& out) {
  append_command(out, {"SET", c_.name, c_.value, "NX", "PX", decimal(std::max<std::int64_t>(c_.ttl.count(), 1))});
  append_command(out, {"GET", c_.name});
  append_command(out, {"PTTL", c_.name});
}

step claim_exchange::on_reply(resp_value&& v, std::string&) {
  switch (seen_++) {
    case 0:
      set_error_ = error_of(v);
      // refusals come before NX is looked at: no error means that a write would have been taken
      took_write_ = !set_error_;
      return step::wait();
    case 1:
      get_error_ = error_of(v);
      if (v.is(resp_type::text)) value_ = std::move(v.text);
      // something else than a string stands there: found, and foreign
      if (get_error_ == server_error::wrong_type) {
        get_error_.reset();
        value_.emplace();
      }
      return step::wait();
    default: return conclude(v);
  }
}

step claim_exchange::conclude(const resp_value& pttl) {
  const bool set_refused = set_error_ && refuses_writes(*set_error_);
  const bool may_stand = !set_error_ || !surely_not_executed(*set_error_);
  // a server that takes writes for another reason than fullness (a replica, loading) is not to be believed either
  if (set_error_ && !set_refused) return step::failed(*set_error_, may_stand);
  if (get_error_) return step::failed(*get_error_, may_stand);
  if (!value_ && set_refused) return step::failed(*set_error_, false);

  reply r;
  if (!value_) {
    r.what = verdict::absent;
    return step::done(std::move(r), took_write_);
  }
  if (!pttl.is(resp_type::integer)) return step::failed(error_of(pttl).value_or(server_error::unknown), may_stand);
  r.what = verdict::found;
  r.value = std::move(*value_);
  r.ttl = pttl.integer;
  r.write_refused = set_refused;
  auto s = step::done(std::move(r), took_write_);
  s.fault = set_error_;
  return s;
}

}  // namespace idem::store::redis
