#include "idem/idempotency/problem.hpp"

#include "idem/text/decimal.hpp"
#include "idem/text/json.hpp"
#include "idem/text/rfc3339.hpp"

namespace idem::idempotency {
problem busy_problem(bool seen) {
  problem p(problem_code::busy);
  p.retry_after = 1;
  if (seen) {
    p.safe_new_key = false;
    p.detail = "Nothing was executed this time. Wait a moment and then send the same request with the same key.";
  }
  return p;
}

std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 422: return "Unprocessable Content";
    case 431: return "Request Header Fields Too Large";  // RFC 6585 §5
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

std::string problem_body(const problem& p) {
  const problem_row& r = row(p.code);
  std::string out;
  out.reserve(256 + 2 * r.code.size() + r.title.size() + p.detail.size());
  out += "{\"type\":\"urn:idempotency-proxy:problem:";
  out += r.code;
  out += "\",\"title\":";
  text::append_json_string(out, r.title);
  out += ",\"status\":";
  out += text::decimal(p.status);
  out += ",\"detail\":";
  // every detail is a literal of ours, but a caller may set one: it must not break the body
  text::append_json_string(out, p.detail);
  out += ",\"code\":\"";
  out += r.code;
  out += "\",\"retryable\":";
  out += p.retryable ? "true" : "false";
  out += ",\"safe_new_key\":";
  out += p.safe_new_key ? "true" : "false";
  if (p.first_seen) {
    out += ",\"first_seen\":\"";
    text::append_rfc3339(out, *p.first_seen);
    out += '"';
  }
  if (p.attempt) {
    out += ",\"attempt\":";
    out += text::decimal(*p.attempt);
  }
  out += "}\n";
  return out;
}

std::size_t append_problem_response(std::string& out, const problem& p, bool keep_alive_10, bool head_only,
                                    std::string_view lines) {
  const std::string body = problem_body(p);
  out.reserve(out.size() + 256 + lines.size() + body.size());
  out += "HTTP/1.1 ";
  out += text::decimal(p.status);
  out += ' ';
  out += reason_phrase(p.status);
  out += "\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\nIdempotency-Status: ";
  out += row(p.code).code;
  // RFC 9110 §15.5.6 asks for Allow. Only CONNECT is refused, so that any other method may be listed.
  if (p.status == 405) out += "\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
  // RFC 9110 §15.5.2 asks for a challenge
  if (p.status == 401) out += "\r\nWWW-Authenticate: Signature";
  if (p.retry_after) {
    out += "\r\nRetry-After: ";
    out += text::decimal(*p.retry_after);
  }
  out += "\r\nContent-Length: ";
  out += text::decimal(body.size());
  if (p.close) {
    out += "\r\nConnection: close";
  } else if (keep_alive_10) {
    out += "\r\nConnection: keep-alive";
  }
  out += "\r\n";
  out += lines;
  out += "\r\n";
  if (head_only) return 0;
  out += body;
  return body.size();
}

}  // namespace idem::idempotency
