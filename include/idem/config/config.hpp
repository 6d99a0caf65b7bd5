// The configuration as the rest of the program sees it: typed, validated, with every default filled in.
//
// A `snapshot` is immutable once it was loaded and is shared as `std::shared_ptr<const snapshot>`: a reload makes a
// new one, requests in flight end on the one they began with. No member needs a lock. Durations are milliseconds,
// sizes are bytes. docs/configuration.md and config/reference.yaml describe the same keys for users.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "idem/config/route_match.hpp"
#include "idem/config/verification_keys.hpp"

namespace idem::config {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

/// An address to listen on or to connect to: `host:port`, `[v6]:port` or `unix:/path`.
struct endpoint {
  std::string host;  ///< name or literal without brackets; empty for a unix socket
  std::uint16_t port = 0;
  std::string unix_path;  ///< empty for TCP
  std::string text;       ///< as it was written, for messages

  bool is_unix() const { return !unix_path.empty(); }
};

struct server_timeouts {
  milliseconds header = 15s;      ///< for a whole request head, from its first byte
  milliseconds body_idle = 30s;   ///< between two pieces of a body from, or to, the client
  milliseconds keep_alive = 75s;  ///< an idle connection between two requests
  milliseconds drain = 25s;       ///< from SIGTERM to the end
};

struct server_tls {
  std::string certificate, key;  ///< PEM files; empty = no TLS
  std::string client_ca;         ///< PEM file; not empty = clients must present a certificate of it
  bool enabled() const { return !certificate.empty(); }
};

enum class forwarded_policy : std::uint8_t { preserve, append, replace, remove };
enum class proxy_protocol_policy : std::uint8_t { off, v1_v2 };

struct server_config {
  std::vector<endpoint> listen;
  unsigned threads = 1;  ///< `auto` is resolved already: cgroup CPU quota, at most 4
  std::size_t max_in_flight = 1000;
  std::size_t max_connections = 10000;
  std::size_t header_limit = 32 * 1024;
  std::size_t header_fields = 100;
  std::size_t uri_limit = 8 * 1024;
  server_timeouts timeouts;
  forwarded_policy forwarded = forwarded_policy::preserve;
  bool via = false;
  proxy_protocol_policy proxy_protocol = proxy_protocol_policy::off;
  server_tls tls;
};

struct admin_config {
  endpoint listen;  ///< default 127.0.0.1:9911
  bool ready_requires_store = false;
};

struct upstream_tls {
  bool enabled = false;  ///< the URL's scheme is https
  std::string ca, server_name, certificate, key;
  bool verify = true;
};

struct upstream_config {
  endpoint address;
  milliseconds connect_timeout = 1s;
  milliseconds response_timeout = 30s;
  milliseconds idle_timeout = 30s;
  milliseconds keep_alive_idle = 4s;
  std::size_t keep_alive_max_idle = 64;  ///< for each thread
  upstream_tls tls;
};

enum class store_type : std::uint8_t { memory, redis };

struct redis_config {
  endpoint address;
  bool tls = false;  ///< rediss
  std::string tls_ca, tls_server_name;
  bool tls_verify = true;
  unsigned database = 0;
  std::string username;
  std::string password;       ///< of the URL or of `password_file` as read at load time; never logged
  std::string password_file;  ///< read again by the store when a connection is made
  std::string key_prefix = "idem:";
  milliseconds connect_timeout = 500ms;
  milliseconds command_timeout = 250ms;
  bool allow_eviction = false;
};

struct store_config {
  store_type type = store_type::memory;
  std::size_t memory_max_bytes = 256 * 1024 * 1024;
  redis_config redis;
};

/// Where a key, or one part of a concatenated key, or a part of the scope is taken from.
struct source {
  enum class kind : std::uint8_t {
    header,       ///< header:NAME
    query,        ///< query:NAME
    path,         ///< path:{name} of the route's template
    json,         ///< json:/pointer (RFC 6901)
    form,         ///< form:NAME
    xml,          ///< xml:/a/b
    jwt,          ///< jwt:CLAIM
    fingerprint,  ///< the request's own fingerprint
    credential,   ///< Authorization and X-Api-Key (scope only)
    cookie,       ///< cookie:NAME (scope only)
    mtls,         ///< mtls:subject (scope only)
    constant      ///< const:NAME (scope only)
  };
  kind type = kind::header;
  std::string name;  ///< header and cookie names as written; pointer, claim, field or template name
  std::string text;  ///< as it was written, e.g. `header:Idempotency-Key`; identifies the source in a record's name
};

struct key_config {
  std::vector<std::vector<source>> from;  ///< alternatives, first hit wins; each a list of parts to concatenate
  bool required = false;
  std::size_t max_length = 255;
  bool uuid = false;    ///< format: uuid
  bool strict = false;  ///< RFC 8941 strings only
  /// Retention and hold of a key that has the request's fingerprint among its parts: two wanted, equal requests must
  /// not be one for longer than a retry takes.
  milliseconds fingerprint_ttl = 60s;
};

enum class body_mode : std::uint8_t { automatic, raw, json, form, multipart, none };

struct fingerprint_config {
  body_mode body = body_mode::automatic;
  std::vector<std::string> headers = {"Content-Type"};
  bool query = true;
  std::vector<std::string> exclude, include;  ///< JSON pointers or field names
};

enum class guarantee : std::uint8_t { at_most_once, at_least_once };
enum class route_mode : std::uint8_t { enforce, observe, off };
enum class in_flight_respond : std::uint8_t { conflict, accepted, wait };
enum class oversize_policy : std::uint8_t { conflict, status_only };
enum class store_error_policy : std::uint8_t { reject, allow };

/// What a status means for the record, where the route overrides the table of docs/protocol.md.
enum class disposition : std::uint8_t { by_table, final, release, unknown };

/// Codes and classes of `statuses`. A code beats a class.
class status_overrides {
 public:
  disposition of(unsigned status) const {
    if (auto it = codes.find(status); it != codes.end()) return it->second;
    if (auto it = classes.find(status / 100); it != classes.end()) return it->second;
    return disposition::by_table;
  }
  std::map<unsigned, disposition> codes;    ///< 100 … 599
  std::map<unsigned, disposition> classes;  ///< 1 … 5
};

/// Codes and classes, e.g. `[200, 4xx]`.
struct status_set {
  std::set<unsigned> codes;    ///< 100 … 599
  std::set<unsigned> classes;  ///< 1 … 5
  bool contains(unsigned status) const { return codes.contains(status) || classes.contains(status / 100); }
  bool empty() const { return codes.empty() && classes.empty(); }
};

/// What a body must be for its answer to count as a success.
struct body_condition {
  enum class kind : std::uint8_t {
    none,    ///< anything
    equals,  ///< these bytes and nothing else
    json,    ///< the scalar at a pointer is this text
    xml      ///< the element at a path has this text
  };
  kind type = kind::none;
  std::string path;      ///< pointer or path
  std::string expected;  ///< compared byte by byte with the bytes, the scalar or the element's text
};

/// `answer.success`: for callbacks, whose sender reads more than the status. What does not satisfy it is released.
struct success_config {
  status_set statuses;  ///< empty = the table of docs/protocol.md decides, as if there were no `answer.success`
  body_condition body;
  bool given() const { return !statuses.empty(); }
};

/// How tokens are verified whose claims are keys or scopes.
struct jwt_config {
  std::string jwks_file, hmac_secret_file;  ///< one of them, or neither = no tokens
  std::string issuer, audience;             ///< empty = not compared
  milliseconds leeway = 60s;                ///< for exp and nbf
  std::shared_ptr<const jwt_keys> keys;     ///< of the file as read at load time; never logged
};

enum class signature_scheme : std::uint8_t { none, standard_webhooks, stripe, github, shopify, slack };

/// How a sender of callbacks signs: what is not signed so is refused before the claim.
struct signature_config {
  signature_scheme scheme = signature_scheme::none;
  std::string secret_file;        ///< empty = nothing is verified
  std::string secret;             ///< the HMAC key of that file as read at load time; never logged
  milliseconds tolerance = 5min;  ///< between the signed time and now, either way, where the scheme signs a time
  bool enabled() const { return scheme != signature_scheme::none && !secret.empty(); }
};

/// What the 404 or 410 of the backend to a DELETE means.
enum class absent_policy : std::uint8_t {
  off,          ///< what any other 4xx means
  if_repeated,  ///< 204 if this key was executed before, and what came of it is not known
  always        ///< 204
};

/// Pages of which origins may read the proxy's own answers.
struct cors_config {
  std::vector<std::string> origins;  ///< as browsers send them; `*` alone = all of them; empty = none
  bool credentials = false;          ///< never together with `*`
  bool any_origin() const { return origins.size() == 1 && origins.front() == "*"; }
};

struct in_flight_config {
  in_flight_respond respond = in_flight_respond::conflict;
  milliseconds wait = 0ms;
  std::size_t max_waiters = 32;
};

struct idempotency_config {
  std::string preset;            ///< what the block began with: a sender of callbacks, or empty
  milliseconds sender_tries{0};  ///< how long that sender goes on trying; 0 = not by itself, or no preset
  milliseconds sender_waits{0};  ///< how long it waits for an answer; 0 = not known, or no preset
  std::string name_space;        ///< `namespace`; the route's name unless set
  route_mode mode = route_mode::enforce;
  key_config key;
  std::vector<source> scope;
  fingerprint_config fingerprint;
  config::guarantee guarantee = config::guarantee::at_most_once;
  status_overrides statuses;
  milliseconds lease = 15s;
  milliseconds max_processing = 10min;
  milliseconds retention = 24h;
  milliseconds hold = 24h;
  in_flight_config in_flight;
  unsigned mismatch_status = 422;
  std::size_t max_request_body = 1024 * 1024;
  std::size_t max_stored_body = 256 * 1024;
  oversize_policy oversize = oversize_policy::conflict;
  std::vector<std::string> replay_drop;  ///< header names that are never stored
  store_error_policy on_store_error = store_error_policy::reject;
  bool attempt_header = false;
  success_config success;  ///< `answer.success`
  jwt_config jwt;
  signature_config signature;
  absent_policy absent_is_success = absent_policy::off;
  cors_config cors;

  /// Whether a claim of a token is among the sources of key or scope.
  bool uses_jwt() const;
};

struct route {
  std::string name;
  route_match match;
  idempotency_config idempotency;
  milliseconds response_timeout = 30s;
};

enum class log_level : std::uint8_t { debug, info, warn, error };
enum class log_format : std::uint8_t { json, text };

struct logging_config {
  log_level level = log_level::info;
  log_format format = log_format::json;
  bool access = true;
};

struct snapshot {
  server_config server;
  admin_config admin;
  upstream_config upstream;
  store_config store;
  std::vector<route> routes;  ///< first match wins
  logging_config logging;

  /// The first route that matches, or nullptr. `captures` gets the values of a template's names.
  /// @param authority the Host as it came (a port is ignored), may be empty
  const route* find(std::string_view method, std::string_view authority, std::string_view path,
                    path_captures& captures) const;

  /// The route of this name, or nullptr. Valid as long as the snapshot, as is what find() gives.
  const route* named(std::string_view name) const;
};

}  // namespace idem::config
