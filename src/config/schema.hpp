// Every key that a configuration may have, as data: one table for each map. The readers check against the tables, so a
// key is known if and only if it stands here, and a test compares them with config/reference.yaml.
#pragma once

#include <span>
#include <string_view>

namespace idem::config {

struct map_schema {
  std::string_view path;  ///< as in messages, without indices: `routes[].idempotency.key`; empty for the file itself
  std::span<const std::string_view> keys;
};

namespace schema {

extern const map_schema file, server, server_timeouts, server_tls, admin, upstream, upstream_keep_alive, upstream_tls,
    store, store_memory, store_redis, store_redis_tls, route, match, idempotency, key, fingerprint, statuses, retention,
    in_flight, replay_headers, answer, success, jwt, signature, cors, logging;

/// All of them. `defaults` has the keys of `idempotency` and is not listed again.
std::span<const map_schema* const> all();

}  // namespace schema
}  // namespace idem::config
