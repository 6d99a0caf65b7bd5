#include "app/key_name.hpp"

#include <algorithm>
#include <deque>

#include "idem/http/head.hpp"
#include "idem/idempotency/identity.hpp"

namespace idem::app {

namespace {

using kind = config::source::kind;

/// A request that exists only to be identified. Strings stay where they are (deque), since fields are views.
struct made_up_request {
  std::deque<std::string> texts;
  http::request_head head;
  config::path_captures captures;

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
  void field(std::string_view name, std::string_view value) {
    http::field f;
    f.name = keep(std::string(name));
    f.value = keep(std::string(value));
    f.id = http::field_id_of(f.name);
    head.fields.push_back(f);
  }
};

const config::source* header_of_key(const config::key_config& key) {
  for (const auto& alternative : key.from) {
    if (alternative.size() == 1 && alternative.front().type == kind::header) return &alternative.front();
  }
  return nullptr;
}

/// `header:X-Tenant=7`, `path:{account}=9`, `cookie:sid=…`, or a plain header name as in `Authorization=Bearer …`.
bool add_scope(made_up_request& r, const std::string& text, std::string& why) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    why = "--scope: expected SOURCE=VALUE";
    return false;
  }
  auto source = text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  if (source.starts_with("path:")) {
    source = source.substr(5);
    std::erase_if(source, [](char c) { return c == '{' || c == '}'; });
    r.captures.emplace_back(r.keep(source), r.keep(value));
  } else if (source.starts_with("cookie:")) {
    r.field("Cookie", source.substr(7) + "=" + value);
  } else if (source.starts_with("header:")) {
    r.field(source.substr(7), value);
  } else {
    r.field(source, value);
  }
  return true;
}

}  // namespace

std::string record_name_of(const config::snapshot& c, const config::route& route, const key_request& q,
                           std::string& why) {
  const auto& prefix = c.store.redis.key_prefix;
  const bool observes = route.idempotency.mode == config::route_mode::observe;
  if (!q.hash.empty()) return prefix + (observes ? "o:" : "") + "{" + q.hash + "}";
  if (q.key.empty()) {
    why = "one of --key and --hash is needed";
    return {};
  }
  const auto* source = header_of_key(route.idempotency.key);
  if (!source) {
    why = "the route's key does not stand in one header; use --hash with key_hash of the log";
    return {};
  }
  made_up_request r;
  r.head.method = "POST";
  r.field(source->name, q.key);
  for (const auto& s : q.scope) {
    if (!add_scope(r, s, why)) return {};
  }
  const auto identity = idempotency::identify(route.idempotency, prefix, {&r.head, &r.captures, {}, true});
  if (identity.kind != idempotency::identity_kind::keyed) {
    why = identity.refusal ? identity.refusal->detail : "the key and scope given do not make a key on this route";
    return {};
  }
  return identity.name;
}

}  // namespace idem::app
