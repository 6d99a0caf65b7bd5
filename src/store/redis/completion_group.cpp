#include "store/redis/completion_group.hpp"

#include <algorithm>

#include "store/redis/resp_writer.hpp"
#include "store/redis/scripts.hpp"

namespace idem::store::redis {

bool may_be_grouped(const command& c) {
  return c.what == op::complete && !c.notify && c.value.size() <= group_value_limit;
}

void append_group(std::string& out, const group_members& members, bool whole_text) {
  const script& s = completions_script();
  command_writer w(out, 3 + 4 * members.size());
  w.argument(whole_text ? "EVAL" : "EVALSHA");
  w.argument(whole_text ? s.text : s.sha1);
  w.argument(decimal(static_cast<std::int64_t>(members.size())));
  for (const command* c : members) w.argument(c->name);
  for (const command* c : members) {
    w.argument("i1 P ", c->expect);
    w.argument(c->value);
    w.argument(decimal(std::max<std::int64_t>(c->ttl.count(), 1)));
  }
}

group_reply read_group_reply(const resp_value& v, std::size_t size) {
  group_reply r;
  if (v.is(resp_type::error)) {
    r.fault = classify(v.text);
    if (r.fault == server_error::no_script) r.what = group_reply::kind::unknown_script;
    return r;
  }
  if (v.is(resp_type::integer) && v.integer == code_done) r.what = group_reply::kind::decided;
  if (!v.is(resp_type::array) || v.items.empty()) return r;
  std::int64_t last = 0;
  for (const resp_value& item : v.items) {
    if (!item.is(resp_type::integer) || item.integer <= last || item.integer > static_cast<std::int64_t>(size))
      return r;
    last = item.integer;
    r.alone.set(static_cast<std::size_t>(last - 1));
  }
  r.what = group_reply::kind::decided;
  return r;
}

}  // namespace idem::store::redis
