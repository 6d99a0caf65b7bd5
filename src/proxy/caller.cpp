#include "proxy/caller.hpp"

namespace idem::proxy {

caller::caller(client_connection& c) : c_(c) {
  const auto& route = c.route->route->idempotency;
  if (!route.uses_jwt()) return;
  token_ = idempotency::check_bearer_token(route.jwt, c.parser.head(), unix_seconds_now());
  c.log.fault = name_of(token_.fault);
}

idempotency::request_view caller::view(const http::request_head& head, const config::path_captures& captures) const {
  idempotency::request_view v{&head, &captures};
  if (token_.fault == idempotency::token_fault::none) v.token = &token_.token;
  if (c_.client_subject) v.client_subject = *c_.client_subject;
  return v;
}

}  // namespace idem::proxy
