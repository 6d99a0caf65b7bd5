#include "config/schema.hpp"

namespace idem::config::schema {
namespace {

using word = std::string_view;

constexpr word file_keys[] = {"server", "admin", "upstream", "store", "defaults", "routes", "logging"};
constexpr word server_keys[] = {"listen",       "threads",       "max_in_flight",  "max_connections",
                                "header_limit", "header_fields", "uri_limit",      "timeouts",
                                "forwarded",    "via",           "proxy_protocol", "tls"};
constexpr word server_timeouts_keys[] = {"header", "body_idle", "keep_alive", "drain"};
constexpr word server_tls_keys[] = {"certificate", "key", "client_ca"};
constexpr word admin_keys[] = {"listen", "ready_requires_store"};
constexpr word upstream_keys[] = {"url", "connect_timeout", "response_timeout", "idle_timeout", "keep_alive", "tls"};
constexpr word upstream_keep_alive_keys[] = {"idle", "max_idle"};
constexpr word upstream_tls_keys[] = {"ca", "server_name", "certificate", "key", "verify"};
constexpr word store_keys[] = {"type", "memory", "redis"};
constexpr word store_memory_keys[] = {"max_bytes"};
constexpr word store_redis_keys[] = {"url",        "username",        "password_file",   "tls",
                                     "key_prefix", "connect_timeout", "command_timeout", "allow_eviction"};
constexpr word store_redis_tls_keys[] = {"ca", "server_name", "verify"};
constexpr word route_keys[] = {"name", "match", "idempotency", "response_timeout"};
constexpr word match_keys[] = {"path", "prefix", "methods", "host"};
constexpr word idempotency_keys[] = {"preset",
                                     "namespace",
                                     "mode",
                                     "key",
                                     "scope",
                                     "fingerprint",
                                     "guarantee",
                                     "statuses",
                                     "lease",
                                     "max_processing",
                                     "retention",
                                     "hold",
                                     "in_flight",
                                     "mismatch_status",
                                     "max_request_body",
                                     "max_stored_body",
                                     "oversize",
                                     "replay_headers",
                                     "on_store_error",
                                     "attempt_header",
                                     "answer",
                                     "jwt",
                                     "signature",
                                     "absent_is_success",
                                     "cors"};
constexpr word key_keys[] = {"from", "required", "max_length", "format", "strict", "fingerprint_ttl"};
constexpr word fingerprint_keys[] = {"body", "headers", "query", "exclude", "include"};
constexpr word statuses_keys[] = {"final", "release", "unknown"};
constexpr word retention_keys[] = {"client_retries", "delivery_delay", "compensation"};
constexpr word in_flight_keys[] = {"respond", "wait", "max_waiters"};
constexpr word replay_headers_keys[] = {"drop"};
constexpr word answer_keys[] = {"success"};
constexpr word success_keys[] = {"statuses", "body_equals", "body"};
constexpr word jwt_keys[] = {"jwks_file", "hmac_secret_file", "issuer", "audience", "leeway"};
constexpr word signature_keys[] = {"scheme", "secret_file", "tolerance"};
constexpr word cors_keys[] = {"origins", "credentials"};
constexpr word logging_keys[] = {"level", "format", "access"};

}  // namespace

const map_schema file{"", file_keys};
const map_schema server{"server", server_keys};
const map_schema server_timeouts{"server.timeouts", server_timeouts_keys};
const map_schema server_tls{"server.tls", server_tls_keys};
const map_schema admin{"admin", admin_keys};
const map_schema upstream{"upstream", upstream_keys};
const map_schema upstream_keep_alive{"upstream.keep_alive", upstream_keep_alive_keys};
const map_schema upstream_tls{"upstream.tls", upstream_tls_keys};
const map_schema store{"store", store_keys};
const map_schema store_memory{"store.memory", store_memory_keys};
const map_schema store_redis{"store.redis", store_redis_keys};
const map_schema store_redis_tls{"store.redis.tls", store_redis_tls_keys};
const map_schema route{"routes[]", route_keys};
const map_schema match{"routes[].match", match_keys};
const map_schema idempotency{"routes[].idempotency", idempotency_keys};
const map_schema key{"routes[].idempotency.key", key_keys};
const map_schema fingerprint{"routes[].idempotency.fingerprint", fingerprint_keys};
const map_schema statuses{"routes[].idempotency.statuses", statuses_keys};
const map_schema retention{"routes[].idempotency.retention", retention_keys};
const map_schema in_flight{"routes[].idempotency.in_flight", in_flight_keys};
const map_schema replay_headers{"routes[].idempotency.replay_headers", replay_headers_keys};
const map_schema answer{"routes[].idempotency.answer", answer_keys};
const map_schema success{"routes[].idempotency.answer.success", success_keys};
const map_schema jwt{"routes[].idempotency.jwt", jwt_keys};
const map_schema signature{"routes[].idempotency.signature", signature_keys};
const map_schema cors{"routes[].idempotency.cors", cors_keys};
const map_schema logging{"logging", logging_keys};

std::span<const map_schema* const> all() {
  static constexpr const map_schema* maps[] = {&file,
                                               &server,
                                               &server_timeouts,
                                               &server_tls,
                                               &admin,
                                               &upstream,
                                               &upstream_keep_alive,
                                               &upstream_tls,
                                               &store,
                                               &store_memory,
                                               &store_redis,
                                               &store_redis_tls,
                                               &route,
                                               &match,
                                               &idempotency,
                                               &key,
                                               &fingerprint,
                                               &statuses,
                                               &retention,
                                               &in_flight,
                                               &replay_headers,
                                               &answer,
                                               &success,
                                               &jwt,
                                               &signature,
                                               &cors,
                                               &logging};
  return maps;
}

}  // namespace idem::config::schema
