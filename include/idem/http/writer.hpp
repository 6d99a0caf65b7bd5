// Writes heads from judged fields. Nothing here trusts its input: a CR, LF or NUL in a part makes the call return
// false and leave `out` as it was. Everything appends, so that head and body can leave in one send.
#pragma once

#include <string>
#include <string_view>

#include "idem/http/head.hpp"

namespace idem::http {

/// Whether a name is a token and a value has no CR, LF, NUL.
bool valid_field(std::string_view name, std::string_view value);

/// False, too, for a status that is not from 100 to 599.
bool append_status_line(std::string& out, unsigned status, std::string_view reason);
bool append_field(std::string& out, std::string_view name, std::string_view value);
/// `Content-Length: n` or `Transfer-Encoding: chunked`, or nothing.
void append_framing(std::string& out, framing plan);
inline void append_end(std::string& out) { out += "\r\n"; }

/// What the proxy changes in a request head on its way upstream (RFC 9110 §7.6).
struct request_edits {
  framing body;  ///< framing to write
  /// Client address to append or to put. Empty: all X-Forwarded-* stay as they are, unless they are to be removed.
  std::string_view forwarded_for;
  std::string_view forwarded_proto;  ///< "http" or "https"
  enum class forwarded : std::uint8_t { preserve, append, replace, remove } forwarded_mode = forwarded::preserve;
  bool via = false;           ///< append `Via: 1.N idempotency-proxy` with the version that was received
  bool keep_expect = false;   ///< forward Expect, unless it came in HTTP/1.0
  bool keep_upgrade = false;  ///< forward Upgrade with a Connection: Upgrade of our own
  bool keep_trailer = false;  ///< forward Trailer (the trailers themselves are relayed)
  std::string_view attempt;   ///< value of Idempotency-Attempt; empty = none. A client's own is removed if set.
};
/// The whole head with its blank line: origin-form target, one Host, fields in their order and case without hop-by-hop,
/// framing where the message had its own. A request of HTTP/1.0 that names no host gets an empty one (RFC 9112 §3.2).
bool append_request_head(std::string& out, const request_head& head, const request_edits& edits);

/// What the proxy changes in a response head.
struct response_edits {
  framing body;
  bool close = false;          ///< write Connection: close
  bool keep_alive_10 = false;  ///< write Connection: keep-alive (to an HTTP/1.0 client that asked for it)
  bool keep_upgrade = false;   ///< 101: forward Upgrade with Connection: Upgrade
  bool keep_trailer = false;
  bool drop_idempotency_status = false;  ///< on idempotent routes the backend's own is removed
  bool via = false;
};
/// The whole head with its blank line. The version written is always HTTP/1.1 (RFC 9110 §6.2). 1xx and 204 carry no
/// framing whatever `edits.body` says; other answers without a body (HEAD, 304) keep the backend's own Content-Length.
bool append_response_head(std::string& out, const response_head& head, const response_edits& edits);

}  // namespace idem::http
