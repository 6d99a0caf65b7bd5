#include "idem/idempotency/own_fields.hpp"

#include <algorithm>

#include "idem/idempotency/webhook_signature.hpp"

namespace idem::idempotency {

bool connection_names_own_field(const config::idempotency_config& route, const http::request_head& head) {
  if (!head.find(http::field_id::connection)) return false;
  const auto named = [&head](std::string_view name) { return head.named_by_connection(name); };
  const auto any_named = [&named](const std::vector<config::source>& sources) {
    return std::any_of(sources.begin(), sources.end(), [&named](const config::source& s) {
      return s.type == config::source::kind::header && named(s.name);
    });
  };
  if (std::any_of(route.key.from.begin(), route.key.from.end(), any_named) || any_named(route.scope)) return true;
  const auto signature = signature_fields(route.signature.scheme);
  return route.signature.enabled() && std::any_of(signature.begin(), signature.end(), named);
}

}  // namespace idem::idempotency
