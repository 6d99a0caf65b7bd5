// Answers as they are stored and as they go out: the record's header block, and heads written from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "idem/http/head.hpp"
#include "idem/idempotency/record.hpp"
#include "proxy/client_connection.hpp"

namespace idem::proxy {

/// Reason CRLF, then the lines that are kept: not hop-by-hop, not the proxy's own names, none of `drop`, and no framing
/// but the Content-Length of an answer to HEAD, which only describes.
void append_header_block(std::string& block, const http::response_head& head, const std::vector<std::string>& drop);

/// The header block of a 204 in place of this answer: its reason, and the lines that say nothing about a body.
void append_no_content_block(std::string& block, const http::response_head& head, const std::vector<std::string>& drop);

/// Status line and the lines of a header block, as append_answer_lines() does it for a head.
void append_block_lines(std::string& out, unsigned status, std::string_view block, bool via);

/// Status line and lines for the first client, without framing, Connection and the blank line. A Content-Length that
/// only describes (HEAD, 304) stays.
void append_answer_lines(std::string& out, const http::response_head& head, bool via);

/// Ends such a head: framing, Connection, `extra` lines, blank line.
void end_answer_head(std::string& out, const client_connection& c, http::framing plan, bool close,
                     std::string_view extra);

/// Fills `c.out` with a record's answer: the stored status, reason, lines and body, marked (docs/protocol.md, "What a
/// duplicate gets"). With `status_only` (`oversize: status_only`) without the body, and without fields that describe
/// it. The log entry of the connection says what it is.
void answer_from_record(client_connection& c, const idempotency::record& r, bool status_only);

}  // namespace idem::proxy
