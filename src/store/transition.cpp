#include "store/transition.hpp"

#include "idem/idempotency/record.hpp"

namespace idem::store {
namespace {

using idempotency::owner_offset;
using idempotency::owner_size;
using idempotency::prefix_size;

constexpr transition lost{verdict::lost, write_kind::none};

std::string_view prefix_of(const standing& s) { return s.value.substr(0, prefix_size); }

// The state letter when the prefix is the one that was seen, else NUL. What is not of our version matches nothing.
char seen_state(const command& c, const standing& s) {
  const bool same =
      s.present && c.expect.size() == prefix_size && c.expect.starts_with("i1 ") && prefix_of(s) == c.expect;
  return same ? s.value[state_offset] : '\0';
}

// The state letter when the record is of this attempt and owner, else NUL.
char own_state(const command& c, const standing& s) {
  const auto prefix = prefix_of(s);
  const bool own = prefix.size() == prefix_size && prefix.starts_with("i1 ") && c.expect.size() == owner_size &&
                   prefix.substr(owner_offset) == c.expect;
  return own ? prefix[state_offset] : '\0';
}

transition put_if(bool condition) { return condition ? transition{verdict::done, write_kind::put} : lost; }

transition complete(const command& c, const standing& s) {
  if (!s.present) return {verdict::recreated, write_kind::put};
  switch (own_state(c, s)) {
    case 'P':
    case 'U':
    case 'R': return {verdict::done, write_kind::put};
    case 'S':
    case 'F':
    case 'X': return {verdict::already, write_kind::none};
    default: return lost;
  }
}

transition declare(const command& c, const standing& s) {
  if (!s.present) return {verdict::recreated, write_kind::put};
  const char state = own_state(c, s);
  return put_if(state == 'P' || state == 'R' || (state == 'X' && c.declare_x));
}

transition renew(const command& c, const standing& s) {
  if (!s.present) return {verdict::recreated, write_kind::put};
  return own_state(c, s) == 'P' ? transition{verdict::done, write_kind::extend} : lost;
}

transition release(const command& c, const standing& s) {
  if (!s.present || own_state(c, s) != 'P') return lost;
  return {verdict::done, c.expect.starts_with("0001 ") ? write_kind::erase : write_kind::put};
}

// A TTL of −1 (no expiry) dates nothing: it never counts as old enough.
bool at_most(std::int64_t ttl, milliseconds limit) { return ttl >= 0 && ttl <= limit.count(); }

transition take_over(const command& c, const standing& s) {
  const char state = seen_state(c, s);
  return put_if((state == 'P' || state == 'U') && at_most(s.ttl, c.hold));
}

transition resolve(const command& c, const standing& s) {
  if (seen_state(c, s) != 'U') return lost;
  if (!c.value.empty()) return {verdict::done, write_kind::put};
  return at_most(s.ttl, c.hold - c.lease) ? transition{verdict::done, write_kind::erase} : lost;
}

}  // namespace

transition decide(const command& c, const standing& s) {
  switch (c.what) {
    case op::claim: return {verdict::found, s.present ? write_kind::none : write_kind::put};
    case op::look: return {s.present ? verdict::found : verdict::absent, write_kind::none};
    case op::renew: return renew(c, s);
    case op::complete: return complete(c, s);
    case op::release: return release(c, s);
    case op::declare: return declare(c, s);
    case op::take_over: return take_over(c, s);
    case op::revoke: return seen_state(c, s) == 'P' ? transition{verdict::done, write_kind::mark_revoked} : lost;
    case op::resolve: return resolve(c, s);
  }
  return lost;
}

}  // namespace idem::store
