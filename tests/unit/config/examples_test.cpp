// The files in config/ are what users begin with; the reference promises to have every key with its default.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "config/presets.hpp"
#include "config/schema.hpp"
#include "config/tree.hpp"
#include "support/environment_variable.hpp"
#include "unit/config/support.hpp"

namespace idem::config {
namespace {

const std::string folder = std::string(IDEM_SOURCE_DIR) + "/config/";

std::string content_of(const std::string& name) {
  std::ifstream file(folder + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> messages_of(const load_result& result) {
  std::vector<std::string> messages;
  for (const finding& f : result.findings)
    messages.push_back(f.key_path + ": " + f.message.substr(0, f.message.find(':')));
  return messages;
}

/// Every key of a file as `MAP KEY`, the map's path without indices, `defaults` as the idempotency block that it is.
void collect_keys(const tree_node& node, const std::string& path, std::set<std::string>& keys) {
  for (const tree_node& item : node.items) collect_keys(item, path + "[]", keys);
  for (const tree_entry& entry : node.entries) {
    keys.insert(path + " " + entry.key);
    std::string below = path.empty() ? entry.key : path + "." + entry.key;
    if (below == "defaults") below = "routes[].idempotency";
    collect_keys(entry.value, below, keys);
  }
}

TEST(reference_file, has_exactly_the_keys_that_exist) {
  report out("reference.yaml");
  const auto root = parse_tree(content_of("reference.yaml"), out);
  ASSERT_TRUE(root);
  std::set<std::string> written, known;
  collect_keys(*root, "", written);
  for (const map_schema* map : schema::all()) {
    for (std::string_view key : map->keys) known.insert(std::string(map->path) + " " + std::string(key));
  }
  EXPECT_EQ(written, known);
}

/// The reference with "" in place of the value on its line `number`, and the key of that line; nothing if it has none.
std::optional<std::pair<std::string, std::string>> emptied(std::size_t number) {
  static const std::regex entry("( *(?:- )?)([a-z_]+): ([^ #{\\[][^#]*|\"[^\"]*\")( #.*)?");
  std::stringstream file(content_of("reference.yaml"));
  std::string text, key, line;
  for (std::size_t i = 0; std::getline(file, line); ++i) {
    std::smatch parts;
    if (i == number && std::regex_match(line, parts, entry) && parts.str(3) != "\"\"") {
      key = parts.str(2);
      line = parts.str(1) + key + ": \"\"";
    }
    text += line + "\n";
  }
  if (key.empty()) return std::nullopt;
  return std::pair(key, text);
}

TEST(reference_file, names_the_keys_that_take_an_empty_string_beside_those_that_have_one) {
  const std::string all = content_of("reference.yaml");
  const auto lines = static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
  std::size_t refused = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    const auto file = emptied(i);
    if (!file) continue;
    const auto& [key, text] = *file;
    if (key == "namespace" || key == "path" || key == "prefix") continue;
    EXPECT_FALSE(load_text(text, "f").ok()) << "line " << i + 1 << ": " << key;
    ++refused;
  }
  EXPECT_GT(refused, 50u);
}

TEST(reference_file, is_accepted_with_the_warning_of_the_memory_store_only) {
  const auto result = load_file(folder + "reference.yaml");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(messages_of(result), std::vector<std::string>{"store.type: memory"});
}

void expect_equal(const idempotency_config& a, const idempotency_config& b) {
  EXPECT_EQ(a.mode, b.mode);
  EXPECT_EQ(a.key.from.at(0).at(0).text, b.key.from.at(0).at(0).text);
  EXPECT_EQ(a.key.required, b.key.required);
  EXPECT_EQ(a.key.max_length, b.key.max_length);
  EXPECT_EQ(a.key.uuid, b.key.uuid);
  EXPECT_EQ(a.key.strict, b.key.strict);
  EXPECT_EQ(a.scope.at(0).text, b.scope.at(0).text);
  EXPECT_EQ(a.fingerprint.body, b.fingerprint.body);
  EXPECT_EQ(a.fingerprint.headers, b.fingerprint.headers);
  EXPECT_EQ(a.fingerprint.query, b.fingerprint.query);
  EXPECT_EQ(a.fingerprint.exclude, b.fingerprint.exclude);
  EXPECT_EQ(a.fingerprint.include, b.fingerprint.include);
  EXPECT_EQ(a.guarantee, b.guarantee);
  EXPECT_EQ(a.statuses.codes, b.statuses.codes);
  EXPECT_EQ(a.statuses.classes, b.statuses.classes);
  EXPECT_EQ(a.lease, b.lease);
  EXPECT_EQ(a.max_processing, b.max_processing);
  EXPECT_EQ(a.retention, b.retention);
  EXPECT_EQ(a.hold, b.hold);
  EXPECT_EQ(a.in_flight.respond, b.in_flight.respond);
  EXPECT_EQ(a.in_flight.wait, b.in_flight.wait);
  EXPECT_EQ(a.in_flight.max_waiters, b.in_flight.max_waiters);
  EXPECT_EQ(a.mismatch_status, b.mismatch_status);
  EXPECT_EQ(a.max_request_body, b.max_request_body);
  EXPECT_EQ(a.max_stored_body, b.max_stored_body);
  EXPECT_EQ(a.oversize, b.oversize);
  EXPECT_EQ(a.replay_drop, b.replay_drop);
  EXPECT_EQ(a.on_store_error, b.on_store_error);
  EXPECT_EQ(a.attempt_header, b.attempt_header);
  EXPECT_EQ(a.preset, b.preset);
  EXPECT_EQ(a.key.fingerprint_ttl, b.key.fingerprint_ttl);
  EXPECT_EQ(a.success.given(), b.success.given());
  EXPECT_EQ(a.success.body.type, b.success.body.type);
  EXPECT_EQ(a.jwt.jwks_file + a.jwt.hmac_secret_file, b.jwt.jwks_file + b.jwt.hmac_secret_file);
  EXPECT_EQ(a.jwt.leeway, b.jwt.leeway);
  EXPECT_EQ(a.signature.scheme, b.signature.scheme);
  EXPECT_EQ(a.signature.tolerance, b.signature.tolerance);
  EXPECT_EQ(a.absent_is_success, b.absent_is_success);
  EXPECT_EQ(a.cors.origins, b.cors.origins);
  EXPECT_EQ(a.cors.credentials, b.cors.credentials);
}

TEST(reference_file, shows_the_defaults_of_routes) {
  const auto written = load_file(folder + "reference.yaml").config;
  const auto plain = test::loaded("upstream: {url: \"http://127.0.0.1:3000\"}\nroutes: [{name: a}]\n").config;
  ASSERT_TRUE(written && plain);
  expect_equal(written->routes.at(0).idempotency, plain->routes.at(0).idempotency);
  EXPECT_EQ(written->routes[0].response_timeout, plain->routes[0].response_timeout);
  EXPECT_EQ(written->routes[0].match.methods, plain->routes[0].match.methods);
  EXPECT_EQ(written->routes[0].match.host, plain->routes[0].match.host);
}

void expect_equal(const server_config& a, const server_config& b) {
  EXPECT_EQ(a.listen.at(0).text, b.listen.at(0).text);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.max_in_flight, b.max_in_flight);
  EXPECT_EQ(a.max_connections, b.max_connections);
  EXPECT_EQ(a.header_limit, b.header_limit);
  EXPECT_EQ(a.header_fields, b.header_fields);
  EXPECT_EQ(a.uri_limit, b.uri_limit);
  EXPECT_EQ(a.timeouts.header, b.timeouts.header);
  EXPECT_EQ(a.timeouts.body_idle, b.timeouts.body_idle);
  EXPECT_EQ(a.timeouts.keep_alive, b.timeouts.keep_alive);
  EXPECT_EQ(a.timeouts.drain, b.timeouts.drain);
  EXPECT_EQ(a.forwarded, b.forwarded);
  EXPECT_EQ(a.via, b.via);
  EXPECT_EQ(a.proxy_protocol, b.proxy_protocol);
  EXPECT_EQ(a.tls.enabled(), b.tls.enabled());
}

void expect_equal(const redis_config& a, const redis_config& b) {
  EXPECT_EQ(a.address.text, b.address.text);
  EXPECT_EQ(a.tls, b.tls);
  EXPECT_EQ(a.tls_verify, b.tls_verify);
  EXPECT_EQ(a.database, b.database);
  EXPECT_EQ(a.username, b.username);
  EXPECT_EQ(a.password_file, b.password_file);
  EXPECT_EQ(a.key_prefix, b.key_prefix);
  EXPECT_EQ(a.connect_timeout, b.connect_timeout);
  EXPECT_EQ(a.command_timeout, b.command_timeout);
  EXPECT_EQ(a.allow_eviction, b.allow_eviction);
}

TEST(reference_file, shows_the_defaults_of_everything_else) {
  const auto written = load_file(folder + "reference.yaml").config;
  const auto plain = test::loaded("upstream: {url: \"http://127.0.0.1:3000\"}\n").config;
  ASSERT_TRUE(written && plain);
  expect_equal(written->server, plain->server);
  EXPECT_EQ(written->admin.listen.text, plain->admin.listen.text);
  EXPECT_EQ(written->admin.ready_requires_store, plain->admin.ready_requires_store);
  EXPECT_EQ(written->upstream.connect_timeout, plain->upstream.connect_timeout);
  EXPECT_EQ(written->upstream.response_timeout, plain->upstream.response_timeout);
  EXPECT_EQ(written->upstream.idle_timeout, plain->upstream.idle_timeout);
  EXPECT_EQ(written->upstream.keep_alive_idle, plain->upstream.keep_alive_idle);
  EXPECT_EQ(written->upstream.keep_alive_max_idle, plain->upstream.keep_alive_max_idle);
  EXPECT_EQ(written->upstream.tls.verify, plain->upstream.tls.verify);
  EXPECT_EQ(written->store.type, plain->store.type);
  EXPECT_EQ(written->store.memory_max_bytes, plain->store.memory_max_bytes);
  expect_equal(written->store.redis, plain->store.redis);
  EXPECT_EQ(written->logging.level, plain->logging.level);
  EXPECT_EQ(written->logging.format, plain->logging.format);
  EXPECT_EQ(written->logging.access, plain->logging.access);
}

/// A file in which KEY of the map at PATH has a value that fits nothing.
std::string file_with_wrong_value(std::string path, std::string_view key) {
  std::string value = "{" + std::string(key) + ": {zzz: 1}}";
  while (!path.empty()) {
    const std::size_t dot = path.rfind('.');
    std::string last = dot == std::string::npos ? path : path.substr(dot + 1);
    path.resize(dot == std::string::npos ? 0 : dot);
    if (last.ends_with("[]")) {
      last.resize(last.size() - 2);
      value = "[" + value + "]";
    }
    value = "{" + last + ": " + value + "}";
  }
  return value + "\n";
}

bool has_error_at(const std::string& text, const std::string& path) {
  for (const finding& f : load_text(text, "f").findings) {
    const bool there = f.key_path == path || f.key_path.starts_with(path + ".");
    const bool because = f.message.starts_with("is a map, expected") || f.message.starts_with("unknown key");
    if (there && because) return true;
  }
  return false;
}

TEST(schema, every_key_is_read_and_a_value_that_does_not_fit_is_an_error) {
  for (const map_schema* map : schema::all()) {
    for (std::string_view key : map->keys) {
      std::string path = map->path.empty() ? std::string(key) : std::string(map->path) + "." + std::string(key);
      if (path.starts_with("routes[]")) path.replace(0, 8, "routes[0]");
      EXPECT_TRUE(has_error_at(file_with_wrong_value(std::string(map->path), key), path)) << path;
    }
  }
}

TEST(schema, defaults_has_all_keys_of_an_idempotency_block) {
  for (const map_schema* map : schema::all()) {
    const std::string_view block = "routes[].idempotency";
    if (!map->path.starts_with(block)) continue;
    const std::string path = "defaults" + std::string(map->path.substr(block.size()));
    for (std::string_view key : map->keys) {
      EXPECT_TRUE(has_error_at(file_with_wrong_value(path, key), path + "." + std::string(key))) << path << " " << key;
    }
  }
}

TEST(documentation, names_every_key) {
  std::ifstream file(std::string(IDEM_SOURCE_DIR) + "/docs/configuration.md");
  std::stringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  for (const map_schema* map : schema::all()) {
    for (std::string_view word : map->keys) {
      const std::string key(word);
      bool named = false;
      for (const std::string& form :
           {"`" + key + "`", "." + key + "`", "`" + key + ".", "." + key + ".", key + ": ", "## " + key}) {
        named = named || text.find(form) != std::string::npos;
      }
      EXPECT_TRUE(named) << map->path << " " << key;
    }
  }
}

class example : public testing::Test {
 protected:
  const idem::test::environment_variable redis_url{"REDIS_URL"};
  const idem::test::environment_variable jwks_file{"JWKS_FILE"};
};

TEST_F(example, quickstart_is_accepted_and_is_what_the_script_expects) {
  const auto result = load_file(folder + "quickstart.yaml");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(messages_of(result), std::vector<std::string>{"store.type: memory"});
  EXPECT_EQ(result.config->server.listen.at(0).text, "127.0.0.1:8080");
  EXPECT_EQ(result.config->upstream.address.port, 3000);
  EXPECT_EQ(result.config->store.type, store_type::memory);
  path_captures captures;
  const route* orders = result.config->find("POST", "localhost", "/orders", captures);
  ASSERT_TRUE(orders);
  EXPECT_EQ(orders->name, "orders");
  EXPECT_TRUE(orders->idempotency.key.required);
}

TEST_F(example, payments_is_accepted_without_a_warning) {
  const auto result = load_file(folder + "payments.yaml");
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.findings.empty()) << result.findings[0].text();
}

TEST_F(example, webhooks_is_accepted_with_warnings_about_its_scopes_only) {
  const auto result = load_file(folder + "webhooks.yaml");
  ASSERT_TRUE(result.ok());
  for (const finding& f : result.findings) EXPECT_TRUE(f.key_path.ends_with(".scope")) << f.text();
  EXPECT_EQ(result.config->routes.at(0).idempotency.key.from.at(0).at(0).name, "webhook-id");
  EXPECT_EQ(result.config->routes.at(0).idempotency.fingerprint.body, body_mode::none);
}

TEST_F(example, callbacks_has_every_preset_and_warns_about_scopes_only) {
  const auto result = load_file(folder + "callbacks.yaml");
  ASSERT_TRUE(result.ok());
  for (const finding& f : result.findings) EXPECT_TRUE(f.key_path.ends_with(".scope")) << f.text();
  std::set<std::string> named;
  for (const route& r : result.config->routes) named.insert(r.idempotency.preset);
  for (const preset& p : presets()) EXPECT_TRUE(named.contains(std::string(p.name))) << p.name;
}

TEST_F(example, of_the_compose_file_is_accepted_without_a_warning) {
  const auto result = load_file(std::string(IDEM_SOURCE_DIR) + "/docker/proxy.yaml");
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.findings.empty()) << result.findings[0].text();
}

TEST_F(example, legacy_is_accepted_without_a_warning) {
  const auto result = load_file(folder + "legacy.yaml");
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.findings.empty()) << result.findings[0].text();
}

TEST_F(example, tokens_is_accepted_without_a_warning) {
  jwks_file.set(folder + "tokens.jwks.json");
  const auto result = load_file(folder + "tokens.yaml");
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.findings.empty()) << result.findings[0].text();
  ASSERT_TRUE(result.config->routes.at(1).idempotency.jwt.keys);
  EXPECT_EQ(result.config->routes[1].idempotency.scope.size(), 2u);
}

TEST_F(example, redis_comes_from_the_environment) {
  redis_url.set("redis://:pw@cache:7000/2");
  for (const char* name : {"payments.yaml", "webhooks.yaml"}) {
    const auto result = load_file(folder + name);
    ASSERT_TRUE(result.ok()) << name;
    EXPECT_EQ(result.config->store.redis.address.host, "cache");
    EXPECT_EQ(result.config->store.redis.password, "pw");
  }
}

}  // namespace
}  // namespace idem::config
