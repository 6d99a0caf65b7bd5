// From a request to the name of its record: route, scope and key (docs/protocol.md, "One record per key").
#pragma once

#include <boost/container/small_vector.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/http/head.hpp"
#include "idem/idempotency/bearer_token.hpp"
#include "idem/idempotency/problem.hpp"

namespace idem::idempotency {

/// What identity and fingerprint read of a request. Views; nothing is owned.
struct request_view {
  const http::request_head* head = nullptr;
  const config::path_captures* captures = nullptr;
  std::string_view body;                  ///< decoded from its transfer coding
  bool body_known = false;                ///< false while only the head has come
  const verified_token* token = nullptr;  ///< null: none came, or it does not verify
  /// Subject of the client's certificate, which TLS has verified (RFC 2253); nothing without one.
  std::optional<std::string_view> client_subject;
};

/// A part of a scope or a key: its source as written in the configuration, and its value, if there is one.
struct name_part {
  std::string_view kind;  ///< a literal, or of the configuration
  std::optional<std::string> value;
};
using name_parts = boost::container::small_vector<name_part, 4>;

/// `<prefix>{<base64url(SHA-256(…))>}` over `n1` and then, each preceded by its length as 4 bytes (big endian): the
/// namespace, the number of scope parts, each part's kind and value (absence is a kind of its own), the number of key
/// parts, each part's source and value.
std::string record_name(std::string_view prefix, std::string_view name_space, const name_parts& scope,
                        const name_parts& key);

enum class identity_kind : std::uint8_t {
  keyed,       ///< `name` is the record's name
  keyless,     ///< no key, and none is required: the request passes untouched
  unverified,  ///< the route goes by claims, and there is no token that verifies: passes untouched, never replayed
  need_body,   ///< the body, which is not known yet, has a say; nothing that the head shows refuses the request
  refused      ///< answer `refusal`
};

struct identity {
  identity_kind kind = identity_kind::keyless;
  std::string name;  ///< record name, with prefix and braces
  std::string_view hash()
      const;                    ///< the 43 characters between the braces, for logs and operators; empty without a name
  bool by_fingerprint = false;  ///< the request's fingerprint is a part of the key: it lives for fingerprint_ttl only
  std::optional<problem> refusal;
};

/// Decides by the route's key and scope settings. With `body_known` false everything is checked that the head alone
/// decides, so that refusals come before a body is read. `observe` takes names under `<prefix>o:`.
/// @param prefix the store's key prefix
identity identify(const config::idempotency_config& route, std::string_view prefix, const request_view& request);

}  // namespace idem::idempotency
