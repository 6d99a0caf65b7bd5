// The blocks `store` and `logging`.
#include <algorithm>

#include "config/address.hpp"
#include "config/draft.hpp"
#include "config/file.hpp"
#include "config/tls_files.hpp"
#include "idem/text/ascii.hpp"

namespace idem::config {
namespace {

constexpr milliseconds longest_timeout = 60s;

/// Whether there is a usable URL, given or by default.
bool read_url(const section& redis, redis_config& to) {
  redis_url url = *parse_redis_url("redis://127.0.0.1:6379/0");
  bool usable = true;
  if (const auto value = redis.text("url", "a URL such as redis://127.0.0.1:6379/0")) {
    auto read = parse_redis_url(value->text);
    // never the text itself, which may hold a password
    usable = static_cast<bool>(read);
    if (usable) url = *read;
    if (!usable) redis.out().error(value->at, "the URL " + read.why);
  }
  to.address = url.address;
  to.tls = url.tls;
  to.database = url.database;
  to.username = url.username;
  to.password = url.password;
  if (!to.address.is_unix()) {
    to.address.text = (to.tls ? "rediss://" : "redis://") + to.address.text + "/" + std::to_string(to.database);
  }
  return usable;
}

void read_credentials(const section& redis, bool in_use, redis_config& to) {
  const auto username = redis.text("username", "a user name");
  if (username && !username->text.empty()) {
    if (!to.username.empty()) redis.out().error(username->at, "the URL has a user name, too, expected one of the two");
    to.username = username->text;
  }
  const auto file = redis.text("password_file", "the path of a file");
  if (file && !file->text.empty()) {
    to.password_file = file->text;
    if (!to.password.empty()) redis.out().error(file->at, "the URL has a password, too, expected one of the two");
    if (in_use) {
      const auto secret = read_secret(redis.out(), file->at, to.password_file);
      if (!secret) redis.out().error(file->at, redis.out().value(to.password_file) + " " + secret.why);
      if (secret) to.password = *secret;
    }
  }
  const bool refused = redis.refused("url") || redis.refused("password_file");
  if (!refused && !to.username.empty() && to.password.empty() && to.password_file.empty()) {
    redis.out().error(redis.where("username"), "has no password, expected one in the URL or in password_file");
  }
}

void read_tls(const section& tls, bool url_usable, bool in_use, redis_config& to) {
  tls.string("ca", to.tls_ca, pem_file);
  if (const auto name = tls.text("server_name", "a host name")) {
    to.tls_server_name = name->text;
    if (!name->text.empty() && !parse_host_name(name->text)) {
      tls.out().error(name->at, name->shown + " is no valid host name");
    }
  }
  tls.flag("verify", to.tls_verify);
  const bool used = !to.tls_ca.empty() || !to.tls_server_name.empty() || !to.tls_verify;
  if (used && !to.tls && url_usable) {
    tls.out().error(tls.at(), "has no effect, expected a store.redis.url that begins with rediss://");
  }
  if (in_use && !to.tls_ca.empty()) check_ca_file(tls.out(), tls.where("ca"), to.tls_ca);
  if (in_use && to.tls && !to.tls_verify) {
    tls.out().warning(tls.where("verify"),
                      "the certificate of Redis is not verified: anyone on the way can pose as it");
  }
}

void read_key_prefix(const section& redis, std::string& to) {
  const auto value = redis.text("key_prefix", "a prefix such as \"idem:\"");
  if (!value) return;
  // braces mark what Redis Cluster hashes, and the record's name brings its own
  const bool fine = !value->text.empty() && value->text.size() <= 64 &&
                    std::all_of(value->text.begin(), value->text.end(),
                                [](char c) { return text::is_visible(c) && c != '{' && c != '}'; });
  if (fine) {
    to = value->text;
  } else {
    redis.out().error(value->at,
                      value->shown + " is no prefix, expected 1 to 64 visible ASCII characters without braces");
  }
}

}  // namespace

void read_store(const section& file, draft& out) {
  const section store = file.child("store", schema::store);
  store_config& to = out.config.store;
  out.store_type_at = store.where("type");
  store.choice<store_type>("type", to.type, {{"memory", store_type::memory}, {"redis", store_type::redis}});
  store.child("memory", schema::store_memory).size("max_bytes", to.memory_max_bytes, {64 * 1024, std::size_t{1} << 40});

  // files of a store that is not used may be absent: one file serves a laptop and a cluster
  const bool in_use = to.type == store_type::redis;
  const section redis = store.child("redis", schema::store_redis);
  const bool url_usable = read_url(redis, to.redis);
  read_credentials(redis, in_use, to.redis);
  read_tls(redis.child("tls", schema::store_redis_tls), url_usable, in_use, to.redis);
  read_key_prefix(redis, to.redis.key_prefix);
  redis.duration("connect_timeout", to.redis.connect_timeout, {1ms, longest_timeout});
  redis.duration("command_timeout", to.redis.command_timeout, {1ms, longest_timeout});
  redis.flag("allow_eviction", to.redis.allow_eviction);
}

void read_logging(const section& file, draft& out) {
  const section logging = file.child("logging", schema::logging);
  logging_config& to = out.config.logging;
  logging.choice<log_level>(
      "level", to.level,
      {{"debug", log_level::debug}, {"info", log_level::info}, {"warn", log_level::warn}, {"error", log_level::error}});
  logging.choice<log_format>("format", to.format, {{"json", log_format::json}, {"text", log_format::text}});
  logging.flag("access", to.access);
}

}  // namespace idem::config
