#include "idem/idempotency/record.hpp"
#include "store/redis/exchange.hpp"
#include "store/redis/resp_writer.hpp"
#include "store/shard.hpp"

namespace idem::store::redis {
namespace {

// A record that changes under every watch is fought over: whoever lost this often lets go.
constexpr unsigned max_rounds = 16;

}  // namespace

void transaction_exchange::begin(std::string& out) {
  if (c_.what != op::look) return watch(out);
  stage_ = stage::looking;
  // changes nothing; makes a replica say that it is one (see scripts.cpp)
  append_command(out, {"SET", c_.name, "", "NX", "XX"});
  append_command(out, {"MULTI"});
  append_command(out, {"GET", c_.name});
  append_command(out, {"PTTL", c_.name});
  append_command(out, {"EXEC"});
  expected_ = 5;
}

void transaction_exchange::watch(std::string& out) {
  stage_ = stage::watching;
  seen_ = 0;
  expected_ = 3;
  present_ = false;
  value_.clear();
  ttl_ = reply::no_record;
  error_.reset();
  append_command(out, {"WATCH", c_.name});
  // a transition is decided by the prefix; all of it is read for the reply
  if (c_.blind)
    append_command(out, {"GETRANGE", c_.name, "0", decimal(idempotency::prefix_size - 1)});
  else
    append_command(out, {"GET", c_.name});
  append_command(out, {"PTTL", c_.name});
}

step transaction_exchange::on_reply(resp_value&& v, std::string& out) {
  ++seen_;
  switch (stage_) {
    case stage::looking: return on_look(std::move(v));
    case stage::watching: return on_watch(std::move(v), out);
    case stage::writing: return on_write(std::move(v), out);
    case stage::unwatching: break;
  }
  if (v.is(resp_type::error) && classify(v.text) == server_error::read_only) error_ = server_error::read_only;
  if (seen_ < expected_) return step::wait();
  if (error_) return step::failed(*error_, false);
  reply r;
  r.what = verdict_;
  if (!c_.blind) r.value = std::move(value_);
  r.ttl = ttl_;
  return step::done(std::move(r), false);
}

step transaction_exchange::on_look(resp_value&& v) {
  if (seen_ == 1) {
    if (v.is(resp_type::error) && classify(v.text) == server_error::read_only) error_ = server_error::read_only;
    return step::wait();
  }
  if (seen_ < expected_) return step::wait();
  if (error_) return step::failed(*error_, false);
  if (v.is(resp_type::error)) return step::failed(classify(v.text), false);
  if (!v.is(resp_type::array) || v.items.size() != 2 || !v.items[1].is(resp_type::integer))
    return step::failed(server_error::unknown, false);
  reply r;
  r.ttl = v.items[1].integer;
  r.what = r.ttl == reply::no_record ? verdict::absent : verdict::found;
  if (r.what == verdict::found) r.value = std::move(v.items[0].text);
  // what is no string answers WRONGTYPE: found, and foreign
  if (v.items[0].is(resp_type::error)) r.value.clear();
  return step::done(std::move(r), false);
}

step transaction_exchange::on_watch(resp_value&& v, std::string& out) {
  if (v.is(resp_type::error)) {
    const auto e = classify(v.text);
    if (seen_ == 2 && e == server_error::wrong_type)
      present_ = true;
    else if (!error_)
      error_ = e;
  } else if (seen_ == 2 && v.is(resp_type::text)) {
    present_ = true;
    value_ = std::move(v.text);
  } else if (seen_ == 3) {
    ttl_ = v.integer;
    // GETRANGE shows absence as an empty string
    if (c_.blind && value_.empty() && ttl_ == reply::no_record) present_ = false;
  }
  return seen_ < expected_ ? step::wait() : decide_and_send(out);
}

step transaction_exchange::decide_and_send(std::string& out) {
  seen_ = 0;
  // it ended between the two reads
  if (!error_ && present_ && ttl_ == reply::no_record) return retry(out);
  const auto t = decide(c_, {present_, value_, ttl_});
  verdict_ = t.what;
  needs_memory_ = t.write == write_kind::put || t.write == write_kind::mark_revoked;
  if (error_ || t.write == write_kind::none) {
    if (!present_) ttl_ = reply::no_record;
    stage_ = stage::unwatching;
    expected_ = error_ ? 1 : 2;
    // what a replica says is old (see begin())
    if (!error_) append_command(out, {"SET", c_.name, "", "NX", "XX"});
    append_command(out, {"UNWATCH"});
    return step::sent_more();
  }
  send_write(out, t.write);
  return step::sent_more();
}

void transaction_exchange::send_write(std::string& out, write_kind write) {
  stage_ = stage::writing;
  const decimal ttl(std::max<std::int64_t>(c_.ttl.count(), 1));
  append_command(out, {"MULTI"});
  switch (write) {
    case write_kind::none: break;
    case write_kind::put: append_command(out, {"SET", c_.name, c_.value, "PX", ttl}); break;
    case write_kind::extend: append_command(out, {"PEXPIRE", c_.name, ttl}); break;
    case write_kind::erase: append_command(out, {"DEL", c_.name}); break;
    case write_kind::mark_revoked:
      value_[state_offset] = 'R';
      append_command(out, {"SET", c_.name, value_, "PX", ttl});
      break;
  }
  append_command(out, {"EXEC"});
  expected_ = 3;
  // behind the transaction: being refused the channel must not undo the write, and a wake-up too many does no harm
  if (!c_.notify || !wakes(c_.what)) return;
  append_command(out, {"PUBLISH", wake_channel(key_prefix_, shard_of(c_.name)), c_.name});
  ++expected_;
}

step transaction_exchange::on_write(resp_value&& v, std::string& out) {
  if (seen_ <= 2 && v.is(resp_type::error) && !error_) error_ = classify(v.text);
  if (seen_ == 3) executed_ = std::move(v);
  return seen_ < expected_ ? step::wait() : conclude_write(out);
}

step transaction_exchange::conclude_write(std::string& out) {
  if (error_) return step::failed(*error_, false);
  // nil: another wrote in between
  if (executed_.is(resp_type::nil)) return retry(out);
  if (executed_.is(resp_type::error)) {
    const auto e = classify(executed_.text);
    return step::failed(e, !surely_not_executed(e));
  }
  if (!executed_.is(resp_type::array) || executed_.items.size() != 1) return step::failed(server_error::unknown, true);
  const auto& effect = executed_.items[0];
  if (effect.is(resp_type::error)) return step::failed(classify(effect.text), false);
  // PEXPIRE and DEL found nothing: the record ended before EXEC
  if (effect.is(resp_type::integer) && effect.integer == 0) return retry(out);
  reply r;
  r.what = verdict_;
  r.ttl = c_.ttl.count();
  return step::done(std::move(r), needs_memory_);
}

step transaction_exchange::retry(std::string& out) {
  if (++rounds_ == max_rounds) return step::done(reply{}, false);
  watch(out);
  return step::sent_more();
}

}  // namespace idem::store::redis
