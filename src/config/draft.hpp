// A configuration that is being read: the values, and where they stand for rules that look at several of them.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "config/report.hpp"
#include "config/section.hpp"
#include "idem/config/config.hpp"

namespace idem::config {

/// Codes and classes of one list of `statuses`, with their positions.
struct status_entry {
  unsigned value = 0;  ///< a code, or the first digit of a class
  bool is_class = false;
  place at;
};

/// An idempotency block. Begins with the built-in defaults; the `defaults` block and then the route's own are read over
/// it, each setting only the keys that it has.
struct idempotency_draft {
  idempotency_config config;
  bool hold_given = false;
  bool name_space_given = false;
  std::array<std::vector<status_entry>, 3> statuses;  ///< final, release, unknown

  /// Where the value in force was given; nothing for built-in defaults.
  std::optional<place> lease, max_processing, retention, hold, max_stored_body, respond, wait, scope, preset,
      fingerprint_ttl, success, jwt, signature, signature_scheme, absent_is_success, cors_origins, cors_credentials;
  /// Where a preset was named whose sender does not sign as `defaults` verify, until its own block says what holds.
  std::optional<place> foreign_signature;
  std::vector<place> scope_parts, key_sources;  ///< positions of all sources, in their order
};

struct route_draft {
  config::route route;
  place at;
  place name_at;
  bool match_usable = true;  ///< false after a fault in `match`: nothing can be said of what it covers
  idempotency_draft idempotency;
  std::optional<place> response_timeout;

  /// `given`, or, for a default, the route itself with the path of the key.
  place where(const std::optional<place>& given, std::string_view key) const {
    return given ? *given : place{at.line, at.column, at.path + "." + std::string(key)};
  }
};

struct draft {
  snapshot config;
  std::vector<place> listen_at;  ///< one for each of config.server.listen
  place admin_listen_at, upstream_url_at, store_type_at, routes_at;
  std::vector<route_draft> routes;
};

// One reader for each block of the file. Cross-block rules are in rules.hpp.
void read_server(const section& file, draft& out);
void read_admin(const section& file, draft& out);
void read_upstream(const section& file, draft& out);
void read_store(const section& file, draft& out);
void read_logging(const section& file, draft& out);
void read_routes(const section& file, draft& out);

void read_match(const section& match, route_match& out);
void read_idempotency(const section& block, idempotency_draft& out);
/// The same without its `preset`.
void read_settings(const section& block, idempotency_draft& out);
void read_key(const section& key, idempotency_draft& out);
void read_scope(const section& block, idempotency_draft& out);
void read_fingerprint(const section& fingerprint, fingerprint_config& out);
void read_statuses(const section& statuses, idempotency_draft& out);
void read_preset(const section& block, idempotency_draft& out);
void read_answer(const section& answer, idempotency_draft& out);
void read_jwt(const section& jwt, idempotency_draft& out);
void read_signature(const section& signature, idempotency_draft& out);
void read_cors(const section& cors, idempotency_draft& out);

/// Codes and classes of a list; what is neither is reported and left out.
std::vector<status_entry> read_status_list(report& out, const std::vector<scalar>& values);

}  // namespace idem::config
