#include "app/changes.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "idem/idempotency/fingerprint.hpp"

namespace idem::app {
namespace {

using keys = std::vector<std::string_view>;

bool same_listeners(const config::server_config& a, const config::server_config& b) {
  return std::equal(a.listen.begin(), a.listen.end(), b.listen.begin(), b.listen.end(),
                    [](const auto& x, const auto& y) { return x.text == y.text; });
}

/// Of the server and of what a password is for; the password itself counts only where no file is read again.
bool same_url(const config::redis_config& a, const config::redis_config& b) {
  const bool by_file = !a.password_file.empty() || !b.password_file.empty();
  return a.address.host == b.address.host && a.address.port == b.address.port &&
         a.address.unix_path == b.address.unix_path && a.tls == b.tls && a.database == b.database &&
         (by_file || a.password == b.password);
}

/// All but the prefix of names, which requests take from their own configuration.
void add_redis(const config::redis_config& a, const config::redis_config& b, keys& out) {
  const auto add = [&](bool same, std::string_view key) {
    if (!same) out.push_back(key);
  };
  add(same_url(a, b), "store.redis.url");
  add(a.username == b.username, "store.redis.username");
  add(a.password_file == b.password_file, "store.redis.password_file");
  add(a.tls_ca == b.tls_ca, "store.redis.tls.ca");
  add(a.tls_server_name == b.tls_server_name, "store.redis.tls.server_name");
  add(a.tls_verify == b.tls_verify, "store.redis.tls.verify");
  add(a.connect_timeout == b.connect_timeout, "store.redis.connect_timeout");
  add(a.command_timeout == b.command_timeout, "store.redis.command_timeout");
  add(a.allow_eviction == b.allow_eviction, "store.redis.allow_eviction");
}

void add_store(const config::store_config& a, const config::store_config& b, keys& out) {
  if (a.type != b.type) {
    out.push_back("store.type");
  } else if (a.type == config::store_type::redis) {
    add_redis(a.redis, b.redis, out);
  } else if (a.memory_max_bytes != b.memory_max_bytes) {
    out.push_back("store.memory.max_bytes");
  }
}

bool same_sources(const std::vector<config::source>& a, const std::vector<config::source>& b) {
  return std::ranges::equal(a, b, {}, &config::source::text, &config::source::text);
}

bool has(const config::key_config& key, config::source::kind kind) {
  const auto is_one = [kind](const config::source& s) { return s.type == kind; };
  return std::ranges::any_of(key.from, [&](const auto& parts) { return std::ranges::any_of(parts, is_one); });
}

/// The keys in which the identity of records differs (docs/protocol.md, "One record per key").
keys changed_identity(const config::snapshot& before, const config::idempotency_config& a, const config::snapshot& next,
                      const config::idempotency_config& b) {
  using kind = config::source::kind;
  keys out;
  const auto add = [&](bool same, std::string_view key) {
    if (!same) out.push_back(key);
  };
  add(before.store.redis.key_prefix == next.store.redis.key_prefix, "store.redis.key_prefix");
  add(a.name_space == b.name_space, "namespace");
  add(same_sources(a.scope, b.scope), "scope");
  add(std::ranges::equal(a.key.from, b.key.from, same_sources), "key.from");
  // a UUID has no case, any other key of a header has
  add(!has(b.key, kind::header) || a.key.uuid == b.key.uuid, "key.format");
  add(!has(b.key, kind::fingerprint) ||
          idempotency::settings_hash(a.fingerprint) == idempotency::settings_hash(b.fingerprint),
      "fingerprint");
  return out;
}

/// Whether there are requests that `old` was asked before and that `r` is asked next.
bool follows(const config::snapshot& before, const config::route& old, const config::snapshot& next,
             const config::route& r) {
  config::path_captures ignored;
  return std::ranges::any_of(config::common_requests(old.match, r.match), [&](const auto& e) {
    return before.find(e.method, e.host, e.path, ignored) == &old && next.find(e.method, e.host, e.path, ignored) == &r;
  });
}

/// Whether keys count on both sides; a route goes on with its own while it is off.
bool have_keys(const config::route& old, const config::route& r) {
  const auto off = [](const config::route& x) { return x.idempotency.mode == config::route_mode::off; };
  return old.name == r.name || !(off(old) || off(r));
}

/// One line of the log: what is put before hundreds of routes need not name them all.
std::string joined(const keys& list) {
  constexpr std::size_t most = 10;
  std::string out;
  for (const auto one : std::span(list).first(std::min(list.size(), most))) (out += out.empty() ? "" : ", ") += one;
  return list.size() <= most ? out : out + " and " + std::to_string(list.size() - most) + " more";
}

}  // namespace

std::vector<std::string_view> needing_restart(const config::snapshot& started, const config::snapshot& next) {
  keys out;
  if (!same_listeners(started.server, next.server)) out.push_back("server.listen");
  if (started.server.threads != next.server.threads) out.push_back("server.threads");
  if (started.server.tls.enabled() != next.server.tls.enabled()) out.push_back("server.tls");
  if (started.admin.listen.text != next.admin.listen.text) out.push_back("admin.listen");
  add_store(started.store, next.store, out);
  return out;
}

std::vector<key_space> new_key_spaces(const config::snapshot& before, const config::snapshot& next) {
  std::vector<key_space> out;
  for (const auto& r : next.routes) {
    keys old_routes, changed;
    for (const auto& old : before.routes) {
      const auto here = changed_identity(before, old.idempotency, next, r.idempotency);
      if (here.empty() || !have_keys(old, r) || !follows(before, old, next, r)) continue;
      old_routes.push_back(old.name);
      std::ranges::copy_if(here, std::back_inserter(changed),
                           [&](auto key) { return std::ranges::find(changed, key) == changed.end(); });
    }
    if (!changed.empty()) out.push_back({r.name, joined(old_routes), joined(changed)});
  }
  return out;
}

}  // namespace idem::app
