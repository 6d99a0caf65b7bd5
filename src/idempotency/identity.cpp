#include "idem/idempotency/identity.hpp"

#include <algorithm>

#include "idem/memory/block_pool.hpp"
#include "idempotency/json_lookup.hpp"
#include "idempotency/key_source.hpp"
#include "idempotency/media_type.hpp"
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
  name_parts parts;
  bool by_fingerprint = false;
  std::string_view why;
};

using source_values = boost::container::small_vector<source_value, 2>;

// A refusal beats a part that is missing, and both beat one that the body has yet to tell.
key_search judge(const source_values& values) {
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
  source_values values;
  for (const config::source& source : sources) values.push_back(read_source(source, route, head_only));
  key_search s = judge(values);
  if (s.result == key_search::kind::open && request.body_known) {
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (values[i].result == source_value::kind::need_body) values[i] = read_source(sources[i], route, request);
    s = judge(values);
  }
  if (s.result != key_search::kind::hit) return s;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    s.parts.push_back({sources[i].text, std::move(values[i].value)});
    s.by_fingerprint = s.by_fingerprint || sources[i].type == config::source::kind::fingerprint;
  }
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

// Whether the fingerprint looks for single members of a JSON body.
bool looks_into_json(const config::fingerprint_config& settings, const request_view& request) {
  if (settings.exclude.empty() && settings.include.empty()) return false;
  const auto type = request.head->value(http::field_id::content_type);
  return settings.body == config::body_mode::json ||
         (settings.body == config::body_mode::automatic && syntax_of(type) == body_syntax::json);
}

// A member that stands twice where the fingerprint looks: two readers could see two requests.
bool is_ambiguous(const config::fingerprint_config& settings, const request_view& request) {
  const auto twice = [&](const std::string& pointer) { return stands_twice_in_json(request.body, pointer); };
  return std::any_of(settings.exclude.begin(), settings.exclude.end(), twice) ||
         std::any_of(settings.include.begin(), settings.include.end(), twice);
}

void give_back(name_parts& parts) {
  for (auto& part : parts)
    if (part.value) memory::give_back_string(std::move(*part.value));
}

std::string name_of(const config::idempotency_config& route, std::string_view prefix, const request_view& request,
                    const name_parts& key) {
  auto scope = scope_parts(route.scope, request);
  std::string name = route.mode == config::route_mode::observe
                         ? record_name(std::string(prefix) + "o:", route.name_space, scope, key)
                         : record_name(prefix, route.name_space, scope, key);
  give_back(scope);
  return name;
}

}  // namespace

identity identify(const config::idempotency_config& route, std::string_view prefix, const request_view& request) {
  if (route.uses_jwt() && request.token == nullptr) {
    identity id;
    id.kind = identity_kind::unverified;
    return id;
  }
  const auto no_scope = scope_refusal(route.scope, request);
  if (no_scope && never_keyless(route.key)) return refuse(problem_code::missing_scope, *no_scope);
  key_search found = find_key(route, request);
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
  if (looks_into_json(route.fingerprint, request)) {
    id.kind = identity_kind::need_body;
    if (!request.body_known) return id;
    if (is_ambiguous(route.fingerprint, request)) {
      return refuse(problem_code::malformed_request,
                    "A member of the JSON body that tells this request from others stands in it twice; send it once.");
    }
  }
  id.kind = identity_kind::keyed;
  id.by_fingerprint = found.by_fingerprint;
  id.name = name_of(route, prefix, request, found.parts);
  give_back(found.parts);
  return id;
}

}  // namespace idem::idempotency
