// The fingerprint of a request: method, authority (lower case) and path, then query, named headers and body as the
// route says (docs/protocol.md, "Fingerprint"). Equal fingerprints mean: the same business intent, sent again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/idempotency/identity.hpp"
#include "idem/idempotency/record.hpp"

namespace idem::idempotency {

inline constexpr std::uint16_t fingerprint_version = 1;

/// A short hash of everything in the settings that changes a digest.
std::uint32_t settings_hash(const config::fingerprint_config& settings);

/// Settings with all that does not change from request to request worked out.
struct prepared_settings {
  explicit prepared_settings(const config::fingerprint_config& from);

  const config::fingerprint_config* settings;  ///< must outlive this
  std::uint32_t hash;                          ///< settings_hash()
  std::vector<std::string> headers;            ///< that count: lower case, sorted, each once
};

/// Needs the whole body. Never fails: a body that does not parse in its mode is taken raw (and marked as raw, so that
/// it cannot equal a parsed one).
fingerprint compute_fingerprint(const config::fingerprint_config& settings, const request_view& request);
fingerprint compute_fingerprint(const prepared_settings& settings, const request_view& request);

/// Settings that this process knows, by their hash: those of all routes now, and those of earlier configurations. A
/// record that was made under one of them can still be compared. Threads may share it once nothing is added any more.
class known_settings {
 public:
  void add(const config::fingerprint_config& settings);
  /// The digest of `request` under the settings of that version and hash, or nothing if they are not known here.
  std::optional<fingerprint> compute(std::uint16_t version, std::uint32_t settings, const request_view& request) const;

 private:
  std::map<std::uint32_t, config::fingerprint_config> by_hash_;
};

/// The canonical form of a JSON text: no white space, members sorted by code point (duplicates kept in order), numbers
/// with their digits as written, string escapes undone and written in one way. Nothing if it does not parse: not JSON,
/// deeper than 64 levels, invalid UTF-8, or anything after the value. Exposed for tests and fuzzing.
/// @param exclude JSON pointers; a `*` stands for every element of an array. Entries that do not begin with a slash
///        are no pointers and are passed over
/// @param include what counts at all, everything if there is no pointer among them; containers and scalars on the way
///        to an included place count as what they are
std::optional<std::string> canonical_json(std::string_view text, const std::vector<std::string>& exclude = {},
                                          const std::vector<std::string>& include = {});

}  // namespace idem::idempotency
