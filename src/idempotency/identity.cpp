#include "idem/idempotency/identity.hpp"

#include <algorithm>

#include "idempotency/key_source.hpp"
#include "idempotency/scope.hpp"

namespace idem::idempotency {
namespace {

identity refuse(problem_code code, std::string_view detail = {}) {
  identity id;
  id.kind = identity_kind::refused;
  id.refusal.emplace(code);
  if (!detail.empty()) id.refusal->detail = detail;
  return id;
}

/// What an alternative, or all of them, came to.
struct key_search {
  enum class kind : std::uint8_t { miss, hit, refused, open };
  kind result = kind::miss;
  std::vector<name_part> parts;
  std::string_view why;
};

// A refusal beats a part that is missing, and both beat one that the body has yet to tell.
key_search judge(const std::vector<source_value>& values) {
  key_search s;
  bool missing = values.empty(), open = false;
  for (const source_value& v : values) {
    missing = missing || v.result == source_value::kind::absent;
    open = open || v.result == source_value::kind::need_body;
    if (v.result != source_value::kind::refused) continue;
    s.result = key_search::kind::refused;
    s.why = v.why;
    return s;
  }
  if (!missing) s.result = open ? key_search::kind::open : key_search::kind::hit;
  return s;
}

// What the head shows is read first, and decides: the body's coming can then only settle what was open, never turn
// round a miss or a refusal.
key_search try_alternative(const std::vector<config::source>& sources, const config::idempotency_config& route,
                           const request_view& request) {
  request_view head_only = request;
  head_only.body_known = false;
  std::vector<source_value> values;
  for (const config::source& source : sources) values.push_back(read_source(source, route, head_only));
  key_search s = judge(values);
  if (s.result == key_search::kind::open && request.body_known) {
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (values[i].result == source_value::kind::need_body) values[i] = read_source(sources[i], route, request);
    s = judge(values);
  }
  if (s.result != key_search::kind::hit) return s;
  for (std::size_t i = 0; i < sources.size(); ++i) s.parts.push_back({sources[i].text, std::move(values[i].value)});
  return s;
}

// An alternative that waits for the body hides those after it: none of them counts if it hits.
key_search find_key(const config::idempotency_config& route, const request_view& request) {
  for (const auto& sources : route.key.from) {
    key_search s = try_alternative(sources, route, request);
    if (s.result != key_search::kind::miss) return s;
  }
  return {};
}

// Whether every request either has a key or is refused for want of one.
bool never_keyless(const config::key_config& key) {
  return key.required || std::any_of(key.from.begin(), key.from.end(), [](const std::vector<config::source>& sources) {
           return !sources.empty() && std::all_of(sources.begin(), sources.end(), [](const config::source& s) {
             return s.type == config::source::kind::fingerprint;
           });
         });
}

std::string name_of(const config::idempotency_config& route, std::string_view prefix, const request_view& request,
                    const std::vector<name_part>& key) {
  std::string full_prefix(prefix);
  if (route.mode == config::route_mode::observe) full_prefix += "o:";
  return record_name(full_prefix, route.name_space, scope_parts(route.scope, request), key);
}

}  // namespace

identity identify(const config::idempotency_config& route, std::string_view prefix, const request_view& request) {
  const auto no_scope = scope_refusal(route.scope, *request.head);
  if (no_scope && never_keyless(route.key)) return refuse(problem_code::missing_scope, *no_scope);
  const key_search found = find_key(route, request);
  identity id;
  switch (found.result) {
    case key_search::kind::refused: return refuse(problem_code::malformed_key, found.why);
    case key_search::kind::open: id.kind = identity_kind::need_body; return id;
    case key_search::kind::miss:
      if (route.key.required) return refuse(problem_code::missing_key);
      id.kind = identity_kind::keyless;
      return id;
    case key_search::kind::hit: break;
  }
  if (no_scope) return refuse(problem_code::missing_scope, *no_scope);
  id.kind = identity_kind::keyed;
  id.name = name_of(route, prefix, request, found.parts);
  return id;
}

}  // namespace idem::idempotency
