// Small decisions of forwarding that every kind of exchange shares: framing towards the client, data in its framing,
// X-Forwarded-* and Via by configuration.
#pragma once

#include <string>
#include <string_view>

#include "idem/http/body.hpp"
#include "idem/http/writer.hpp"
#include "proxy/client_connection.hpp"

namespace idem::proxy {

/// The framing of an answer towards a client of HTTP/1.minor: a length stays, anything else is chunked, or ends with
/// the connection for HTTP/1.0, which knows no chunks.
inline http::framing answer_framing(http::framing from, unsigned minor) {
  if (from.kind == http::framing_kind::none || from.kind == http::framing_kind::length) return from;
  return {minor == 0 ? http::framing_kind::until_close : http::framing_kind::chunked, 0};
}

inline void append_data(std::string& out, http::framing plan, std::string_view data) {
  if (plan.kind == http::framing_kind::chunked) {
    http::append_chunk_size(out, data.size());
    out += data;
    out += http::chunk_end;
  } else {
    out += data;
  }
}

/// X-Forwarded-* and Via as configured for the server.
http::request_edits forwarding_edits(const client_connection& c);

}  // namespace idem::proxy
