#include "app/key_name.hpp"

#include <algorithm>
#include <deque>

#include "idem/http/head.hpp"
#include "idem/idempotency/identity.hpp"
#include "idem/text/base64.hpp"

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

bool is_credential(std::string_view name) {
  return http::iequals(name, "Authorization") || http::iequals(name, "X-Api-Key");
}

/// Whether a value of this source has a say in the name of a record; another one would be looked for in vain.
bool counts(const std::vector<config::source>& scope, kind type, std::string_view name) {
  return std::any_of(scope.begin(), scope.end(), [&](const config::source& s) {
    if (s.type == kind::credential) return type == kind::header && is_credential(name);
    if (s.type != type) return false;
    return type == kind::header ? http::iequals(s.name, name) : s.name == name;
  });
}

std::string list_of(const std::vector<config::source>& scope) {
  std::string out;
  for (const auto& s : scope) out += (out.empty() ? "" : ", ") + s.text;
  return out;
}

/// `header:X-Tenant=7`, `path:{account}=9`, `cookie:sid=…`, or a plain header name as in `Authorization=Bearer …`.
bool add_scope(made_up_request& r, const std::vector<config::source>& scope, const std::string& text,
               std::string& why) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    why = "--scope: expected SOURCE=VALUE";
    return false;
  }
  auto name = text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  auto type = kind::header;
  if (name.starts_with("path:")) {
    type = kind::path;
    name = name.substr(5);
    std::erase_if(name, [](char c) { return c == '{' || c == '}'; });
  } else if (name.starts_with("cookie:")) {
    type = kind::cookie;
    name = name.substr(7);
  } else if (name.starts_with("header:")) {
    name = name.substr(7);
  }
  if (!counts(scope, type, name)) {
    why = "--scope: the route's scope has no such part, expected values of: " + list_of(scope);
    return false;
  }
  if (type == kind::path) {
    r.captures.emplace_back(r.keep(name), r.keep(value));
  } else if (type == kind::cookie) {
    r.field("Cookie", name + "=" + value);
  } else {
    r.field(name, value);
  }
  return true;
}

/// A part that every request of the route has, and that was not given; or one that cannot be given.
std::string missing_scope(const made_up_request& r, const std::vector<config::source>& scope) {
  for (const auto& s : scope) {
    if (s.type == kind::jwt || s.type == kind::mtls) {
      return "the route's scope has " + s.text + "; use --hash with key_hash of the log";
    }
    const auto given = [&](const auto& capture) { return capture.first == s.name; };
    if (s.type == kind::path && std::none_of(r.captures.begin(), r.captures.end(), given)) {
      return "--scope: the route's scope has " + s.text + ", expected --scope '" + s.text + "=VALUE'";
    }
  }
  return {};
}

bool is_hash(std::string_view text) {
  const auto is_digit = [](char c) { return text::base64_value(c, text::base64_alphabet::url) >= 0; };
  return text.size() == 43 && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

std::string record_name_of(const config::snapshot& c, const config::route& route, const key_request& q,
                           std::string& why) {
  const auto& prefix = c.store.redis.key_prefix;
  const bool observes = route.idempotency.mode == config::route_mode::observe;
  if (!q.hash.empty() && !is_hash(q.hash)) {
    why = "--hash: expected key_hash of the log, which has 43 letters, digits, - and _";
    return {};
  }
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
    if (!add_scope(r, route.idempotency.scope, s, why)) return {};
  }
  if (why = missing_scope(r, route.idempotency.scope); !why.empty()) return {};
  const auto identity = idempotency::identify(route.idempotency, prefix, {&r.head, &r.captures, {}, true});
  if (identity.kind != idempotency::identity_kind::keyed) {
    why = identity.refusal ? identity.refusal->detail : "the key and scope given do not make a key on this route";
    return {};
  }
  return identity.name;
}

}  // namespace idem::app
