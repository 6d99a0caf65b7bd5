// Who asks, as far as it was verified: the claims of a bearer token, the subject of a certificate.
#pragma once

#include "idem/idempotency/bearer_token.hpp"
#include "idem/idempotency/identity.hpp"
#include "proxy/client_connection.hpp"

namespace idem::proxy {

class caller {
 public:
  /// Verifies the token of a request on a route that goes by claims; the log gets the reason why one does not count.
  explicit caller(client_connection& c);

  /// What identity and fingerprint read of this caller's request, without a body as yet. Views of this, of both
  /// arguments and of the connection, which must still be there.
  idempotency::request_view view(const http::request_head& head, const config::path_captures& captures) const;

 private:
  const client_connection& c_;
  idempotency::token_check token_;
};

}  // namespace idem::proxy
