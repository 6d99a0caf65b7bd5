#include "store/redis/completion_group.hpp"

#include <algorithm>

#include "store/redis/resp_writer.hpp"
#include "store/redis/scripts.hpp"

namespace idem::store::redis {

bool may_be_grouped(const command& c) {
  return c.what == op::complete && !c.notify && !c.blind && c.value.size() <= group_value_limit;
}

void append_group(std::string& out, const group_members& members, bool whole_text) {
  const script& s = completions_script();
  command_writer w(out, 3 + 4 * members.size());
  w.argument(whole_text ? "EVAL" : "EVALSHA");
  w.argument(whole_text ? s.text : s.sha1);
  w.argument(decimal(members.size()));
  for (const command* c : members) w.argument(c->name);
  for (const command* c : members) {
    w.argument("i1 P ", c->expect);
    w.argument(c->value);
    w.argument(decimal(std::max<std::int64_t>(c->ttl.count(), 1)));
  }
}

group_reply read_group_reply(resp_value& v, std::size_t size) {
  group_reply r;
  if (v.is(resp_type::error)) {
    r.fault = classify(v.text);
    if (r.fault == server_error::no_script) r.what = group_reply::kind::unknown_script;
    if (v.text.starts_with("CROSSSLOT")) r.what = group_reply::kind::not_together;
    return r;
  }
  if (v.is(resp_type::integer) && v.integer == code_done) r.what = group_reply::kind::decided;
  if (!v.is(resp_type::array) || v.items.empty() || v.items.size() % 2 != 0) return r;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < v.items.size(); i += 2) {
    const resp_value& number = v.items[i];
    if (!number.is(resp_type::integer) || number.integer <= last || number.integer > static_cast<std::int64_t>(size))
      return r;
    last = number.integer;
    r.replies[static_cast<std::size_t>(last - 1)] = &v.items[i + 1];
  }
  r.what = group_reply::kind::decided;
  return r;
}

}  // namespace idem::store::redis
