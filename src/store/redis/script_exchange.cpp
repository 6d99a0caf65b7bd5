#include "store/redis/exchange.hpp"
#include "store/redis/resp_writer.hpp"
#include "store/redis/scripts.hpp"
#include "store/shard.hpp"

namespace idem::store::redis {
namespace {

std::int64_t limit_of(const command& c) {
  switch (c.what) {
    case op::take_over: return c.hold.count();
    case op::resolve: return (c.hold - c.lease).count();
    case op::declare: return c.declare_x ? 1 : 0;
    case op::release: return c.expect.starts_with("0001 ") ? 1 : 0;
    default: return 0;
  }
}

// What a full server refuses: everything but removals and longer lives.
bool needs_memory(const command& c, verdict v) {
  if (v == verdict::recreated) return true;
  if (v != verdict::done || c.what == op::renew) return false;
  if (c.what == op::release) return !c.expect.starts_with("0001 ");
  return c.what != op::resolve || !c.value.empty();
}

std::optional<verdict> verdict_of(std::int64_t code) {
  switch (code) {
    case code_done: return verdict::done;
    case code_recreated: return verdict::recreated;
    case code_already: return verdict::already;
    case code_lost: return verdict::lost;
    case code_found: return verdict::found;
    case code_absent: return verdict::absent;
    default: return {};
  }
}

}  // namespace

void script_exchange::send(std::string& out, bool whole_text) {
  text_sent_ = whole_text;
  const auto& s = script_of(c_.what);
  const std::string_view name = whole_text ? "EVAL" : "EVALSHA", body = whole_text ? s.text : s.sha1;
  const decimal ttl(std::max<std::int64_t>(c_.ttl.count(), 1)), limit(limit_of(c_));
  const bool notify = c_.notify && wakes(c_.what);
  // without the last two the script knows that nobody waits
  if (c_.what == op::complete && !notify && !c_.blind)
    return append_command(out, {name, body, "1", c_.name, c_.expect, c_.value, ttl});
  std::string channel;
  if (notify) channel = wake_channel(key_prefix_, shard_of(c_.name));
  if (c_.blind) return append_command(out, {name, body, "1", c_.name, c_.expect, c_.value, ttl, channel, limit, "1"});
  append_command(out, {name, body, "1", c_.name, c_.expect, c_.value, ttl, channel, limit});
}

step script_exchange::on_reply(resp_value&& v, std::string& out) {
  if (v.is(resp_type::error)) {
    const auto e = classify(v.text);
    if (e == server_error::no_script && !text_sent_) {
      send(out, true);
      return step::sent_more();
    }
    return step::failed(e, !surely_not_executed(e));
  }
  reply r;
  if (c_.what == op::complete && v.is(resp_type::integer) && v.integer == code_done) {
    r.what = verdict::done;
    r.ttl = c_.ttl.count();
    return step::done(std::move(r), true);
  }
  const bool shaped = v.is(resp_type::array) && v.items.size() == 3 && v.items[0].is(resp_type::integer) &&
                      v.items[1].is(resp_type::text) && v.items[2].is(resp_type::integer);
  const auto what = shaped ? verdict_of(v.items[0].integer) : std::nullopt;
  if (!what) return step::failed(server_error::unknown, true);
  r.what = *what;
  r.value = std::move(v.items[1].text);
  r.ttl = v.items[2].integer;
  return step::done(std::move(r), needs_memory(c_, *what));
}

}  // namespace idem::store::redis
