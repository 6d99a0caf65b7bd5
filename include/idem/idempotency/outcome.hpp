// What a backend's answer means for the record: the table of docs/protocol.md, "What the backend's answer becomes".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "idem/config/config.hpp"

namespace idem::idempotency {

enum class settlement : std::uint8_t {
  succeed,  ///< S: stored and replayed
  fail,     ///< F: stored and replayed
  release,  ///< not executed, by the backend's own word: the key is free again
  declare   ///< U: nobody knows
};

/// For a whole answer with this status. The route's lists override the table; `final` keeps S for 2xx and 3xx, else F.
settlement settle_by_status(unsigned status, config::guarantee g, const config::status_overrides& overrides);

/// For a whole answer on a route, `answer.success` included: what does not satisfy it is released, unless the route's
/// lists say otherwise; 401 and 403 are never stored there (docs/routes.md, "Callbacks").
/// @param body nothing while it is not known, or where it cannot be judged (too large, encoded, an event stream): then
///        the status alone decides
settlement settle_answer(const config::idempotency_config& route, unsigned status,
                         std::optional<std::string_view> body = std::nullopt);

/// For an exchange without a whole answer.
/// @param bytes_written whether any byte of the request may have reached the backend
settlement settle_without_answer(bool bytes_written);

}  // namespace idem::idempotency
