#include <algorithm>

#include "http/field_rules.hpp"
#include "http/head_scan.hpp"
#include "http/tokenizer.hpp"
#include "idem/http/parser.hpp"
#include "idem/text/ascii.hpp"

namespace idem::http {
namespace {

constexpr std::string_view version_start = "HTTP/1.";
constexpr std::size_t code_at = 9;
constexpr std::size_t code_end = 12;

rejection bad(std::string_view reason) { return {502, reason}; }

/// Whatever speaks another protocol is known by its first bytes: nobody has to wait for a blank line from a TLS port.
rejection judge_partial(std::string_view line, const head_limits&) {
  const std::size_t n = std::min(line.size(), version_start.size());
  if (line.substr(0, std::min<std::size_t>(n, 5)) != version_start.substr(0, std::min<std::size_t>(n, 5))) {
    return bad("the answer does not begin with HTTP/: the backend speaks another protocol");
  }
  if (line.substr(0, n) != version_start.substr(0, n)) return bad("the answer's version is not HTTP/1.1 or HTTP/1.0");
  if (line.size() > n && line[n] != '0' && line[n] != '1')
    return bad("the answer's version is not HTTP/1.1 or HTTP/1.0");
  return fine;
}

rejection judge_whole(std::string_view line, const head_limits&) {
  if (line.size() < code_end || line[code_at - 1] != ' ' || !text::is_digit(line[code_at]) ||
      !text::is_digit(line[code_at + 1]) || !text::is_digit(line[code_at + 2])) {
    return bad("the status line has no status code of three digits");
  }
  if (line.size() == code_end) return bad("the status line lacks the space after the status code (RFC 9112 section 4)");
  if (line[code_end] != ' ') return bad("the status line has no status code of three digits");
  if (line[code_at] < '1' || line[code_at] > '5') return bad("the status is not between 100 and 599");
  return fine;
}

constexpr first_line_rules status_line{judge_partial, judge_whole};

bool has_no_body(unsigned status, std::string_view method) {
  return status < 200 || status == 204 || status == 304 || method == "HEAD" || (method == "CONNECT" && status < 300);
}

framing plan(const response_head& head, const framing_fields& fields, std::string_view method) {
  if (has_no_body(head.status, method)) return {};
  if (fields.chunked) return {framing_kind::chunked, 0};
  if (fields.length) return {framing_kind::length, *fields.length};
  return {framing_kind::until_close, 0};
}

/// A backend that announces a body with 204 may well send one, which would be taken for the next answer.
bool announces_forbidden_body(const response_head& head, const framing_fields& fields) {
  return head.status == 204 && (fields.chunked || fields.length.value_or(0) > 0);
}

std::string_view judge_fields(response_head& head, std::string_view method) {
  framing_fields fields;
  connection_options connection;
  std::size_t options = 0;
  for (const field& f : head.fields) {
    if (f.id == field_id::content_length || f.id == field_id::transfer_encoding) {
      judge_framing_field(fields, f, head.minor);
    } else if (f.id == field_id::connection) {
      judge_connection(connection, head, f.value, false, options);
    }
    if (!fields.reason.empty()) return fields.reason;
    if (!connection.reason.empty()) return connection.reason;
  }
  if (fields.coded) return "Transfer-Encoding has another coding before chunked";
  head.body = plan(head, fields, method);
  head.keep_alive = head.body.kind != framing_kind::until_close && !connection.close &&
                    (head.minor > 0 || connection.keep_alive) && !announces_forbidden_body(head, fields);
  return {};
}

}  // namespace

parse_result response_parser::parse(std::string_view bytes, std::string_view method) {
  const parse_result scanned = scan_head(bytes, scan_, limits_, status_line, why_);
  if (scanned == parse_result::rejected) return reject(why_.reason);
  if (scanned == parse_result::need_more) return scanned;

  size_ = scan_.next;
  tokenizer<false> tokens(head_.fields);
  if (auto reason = tokens.run(bytes.substr(0, size_)); !reason.empty()) return reject(reason);
  head_.status = tokens.status();
  head_.reason = tokens.reason();
  head_.minor = tokens.minor();
  if (auto reason = judge_fields(head_, method); !reason.empty()) return reject(reason);
  return parse_result::complete;
}

void response_parser::reset() {
  scan_ = {};
  size_ = 0;
  why_ = {};
}

parse_result response_parser::reject(std::string_view reason) {
  why_ = {502, reason};
  return parse_result::rejected;
}

}  // namespace idem::http
