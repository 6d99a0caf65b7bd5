#include "idem/memory/block_pool.hpp"
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
  const decimal ttl(std::max<std::int64_t>(c_.ttl.count(), 1));
  if (set_gets_) {
    append_command(out, {"SET", c_.name, c_.value, "NX", "GET", "PX", ttl});
  } else {
    append_command(out, {"SET", c_.name, c_.value, "NX", "PX", ttl});
    read(out);
  }
}

void claim_exchange::read(std::string& out) {
  append_command(out, {"GET", c_.name});
  append_command(out, {"PTTL", c_.name});
}

step claim_exchange::on_reply(resp_value&& v, std::string& out) {
  switch (next_) {
    case part::set: return set_gets_ ? on_set_get(std::move(v), out) : on_set(v);
    case part::get: return on_get(std::move(v));
    case part::pttl: break;
  }
  return conclude(v);
}

step claim_exchange::on_set(const resp_value& v) {
  set_error_ = error_of(v);
  next_ = part::get;
  return step::wait();
}

step claim_exchange::on_set_get(resp_value&& v, std::string& out) {
  set_error_ = error_of(v);
  // refused as a whole; reading may still be allowed
  if (set_refused()) {
    read(out);
    next_ = part::get;
    return step::sent_more();
  }
  // another server than the one that was tried out, behind the same connection
  if (set_error_ == server_error::unknown) {
    set_gets_ = false;
    begin(out);
    return step::sent_more();
  }
  if (set_error_ == server_error::wrong_type) set_error_.reset();
  if (set_error_) return step::failed(*set_error_, !surely_not_executed(*set_error_));
  if (v.is(resp_type::nil)) {
    value_ = memory::take_string();
    *value_ = c_.value;
    return found(c_.ttl.count());
  }
  on_get(std::move(v));
  return value_ ? found(reply::not_asked) : step::failed(server_error::unknown, true);
}

step claim_exchange::on_get(resp_value&& v) {
  get_error_ = error_of(v);
  if (v.is(resp_type::text)) value_ = std::move(v.text);
  // something else than a string stands there: found, and foreign
  if (get_error_ == server_error::wrong_type) {
    get_error_.reset();
    value_.emplace();
  }
  next_ = part::pttl;
  return step::wait();
}

step claim_exchange::conclude(const resp_value& pttl) {
  const bool may_stand = !set_error_ || !surely_not_executed(*set_error_);
  // a server that refuses writes for another reason than fullness (a replica, loading) is not to be believed either
  if (set_error_ && !set_refused()) return step::failed(*set_error_, may_stand);
  if (get_error_) return step::failed(*get_error_, may_stand);
  if (!value_ && set_refused()) return step::failed(*set_error_, false);

  if (!value_) {
    reply r;
    r.what = verdict::absent;
    return step::done(std::move(r), !set_error_);
  }
  if (pttl.is(resp_type::integer)) return found(pttl.integer);
  step s = found(reply::not_asked);
  s.fault = error_of(pttl).value_or(server_error::unknown);
  return s;
}

step claim_exchange::found(std::int64_t ttl) {
  reply r;
  r.what = verdict::found;
  r.value = std::move(*value_);
  r.ttl = ttl;
  r.write_refused = set_refused();
  // refusals come before NX is looked at: no error means that a write would have been taken
  auto s = step::done(std::move(r), !set_error_);
  s.fault = set_error_;
  return s;
}

}  // namespace idem::store::redis
