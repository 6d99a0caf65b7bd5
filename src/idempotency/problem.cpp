#include "idem/idempotency/problem.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "idempotency/sha256.hpp"

namespace idem::idempotency {
namespace {

template <class Number>
void append_number(std::string& out, Number n) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, n).ptr;
  out.append(text, end);
}

// Every detail is a literal of ours, but a caller may set one: what JSON cannot hold as it is must not break the body.
void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += hex_digits[static_cast<unsigned char>(c) >> 4];
      out += hex_digits[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_digits(std::string& out, int value, int width) {
  char text[12];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  for (auto n = end - text; n < width; ++n) out += '0';
  out.append(text, end);
}

// RFC 3339 knows the years 0000 to 9999 only; a time outside of them is no time that we ever wrote.
void append_rfc3339(std::string& out, std::int64_t unix_ms) {
  constexpr std::int64_t earliest = -62167219200000, latest = 253402300799999;
  const std::chrono::sys_time<std::chrono::milliseconds> t{
      std::chrono::milliseconds{std::min(std::max(unix_ms, earliest), latest)}};
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{t - day};
  append_digits(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_digits(out, static_cast<int>(static_cast<unsigned>(date.month())), 2);
  out += '-';
  append_digits(out, static_cast<int>(static_cast<unsigned>(date.day())), 2);
  out += 'T';
  append_digits(out, static_cast<int>(time.hours().count()), 2);
  out += ':';
  append_digits(out, static_cast<int>(time.minutes().count()), 2);
  out += ':';
  append_digits(out, static_cast<int>(time.seconds().count()), 2);
  out += '.';
  append_digits(out, static_cast<int>(time.subseconds().count()), 3);
  out += 'Z';
}

}  // namespace

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
  append_json_string(out, r.title);
  out += ",\"status\":";
  append_number(out, p.status);
  out += ",\"detail\":";
  append_json_string(out, p.detail);
  out += ",\"code\":\"";
  out += r.code;
  out += "\",\"retryable\":";
  out += p.retryable ? "true" : "false";
  out += ",\"safe_new_key\":";
  out += p.safe_new_key ? "true" : "false";
  if (p.first_seen) {
    out += ",\"first_seen\":\"";
    append_rfc3339(out, *p.first_seen);
    out += '"';
  }
  if (p.attempt) {
    out += ",\"attempt\":";
    append_number(out, *p.attempt);
  }
  out += "}\n";
  return out;
}

std::size_t append_problem_response(std::string& out, const problem& p, bool keep_alive_10, bool head_only) {
  const std::string body = problem_body(p);
  out.reserve(out.size() + 256 + body.size());
  out += "HTTP/1.1 ";
  append_number(out, p.status);
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
    append_number(out, *p.retry_after);
  }
  out += "\r\nContent-Length: ";
  append_number(out, body.size());
  if (p.close) {
    out += "\r\nConnection: close";
  } else if (keep_alive_10) {
    out += "\r\nConnection: keep-alive";
  }
  out += "\r\n\r\n";
  if (head_only) return 0;
  out += body;
  return body.size();
}

}  // namespace idem::idempotency
