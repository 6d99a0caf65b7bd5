#include <algorithm>
#include <cstring>

#include "http/field_rules.hpp"
#include "http/head_scan.hpp"
#include "http/target.hpp"
#include "http/tokenizer.hpp"
#include "idem/http/parser.hpp"
#include "idem/text/field_syntax.hpp"

namespace idem::http {
namespace {

constexpr std::size_t max_method = 64;
constexpr std::size_t max_skipped = 8;  // four empty lines
constexpr std::size_t version_size = std::string_view("HTTP/1.1").size();

rejection judge_version(std::string_view version) {
  if (version == "HTTP/1.1" || version == "HTTP/1.0") return fine;
  if (version.size() == version_size && version.starts_with("HTTP/") && text::is_digit(version[5]) &&
      version[6] == '.' && text::is_digit(version[7])) {
    return {505, "the version is neither HTTP/1.1 nor HTTP/1.0"};
  }
  return {400, "the request line does not end with a version"};
}

rejection judge_method(std::string_view line, std::size_t& end) {
  for (end = 0; end < line.size() && line[end] != ' '; ++end) {
    if (!text::is_token_char(line[end])) return {400, "the method is not a token"};
    if (end == max_method) return {400, "the method is too long"};
  }
  return end == 0 ? rejection{400, "the request line starts with a space"} : fine;
}

/// Looks at the target only once it could be too long, so that feeding byte by byte stays cheap.
rejection judge_partial(std::string_view line, const head_limits& limits) {
  std::size_t method = 0;
  if (rejection r = judge_method(line, method); !r.reason.empty()) return r;
  if (line.size() <= method + 1 + limits.target_bytes) return fine;
  const std::string_view target = line.substr(method + 1, limits.target_bytes + 1);
  const std::size_t end = target.find(' ');
  if (end == std::string_view::npos) return {414, "the target is too long"};
  if (line.size() > method + 1 + end + 1 + version_size + 1) return judge_version({});
  return fine;
}

rejection judge_whole(std::string_view line, const head_limits&) {
  if (line.size() <= version_size || line[line.size() - version_size - 1] != ' ') return judge_version({});
  return judge_version(line.substr(line.size() - version_size));
}

constexpr first_line_rules request_line{judge_partial, judge_whole};

/// An alias that CGI-like backends cannot tell from the field itself (RFC 3875 §4.1.18).
bool is_framing_alias(const field& f) {
  if (f.id != field_id::other) return false;
  if (f.name.size() == 14)
    return f.name[7] == '_' && iequals(f.name.substr(0, 7), "content") && iequals(f.name.substr(8), "length");
  if (f.name.size() == 17)
    return f.name[8] == '_' && iequals(f.name.substr(0, 8), "transfer") && iequals(f.name.substr(9), "encoding");
  return false;
}

/// One pass over the fields of a request.
struct request_judge {
  request_head& head;
  framing_fields framing{};
  connection_options connection{};
  std::size_t options = 0;
  std::size_t hosts = 0;
  bool upgrade_field = false;

  std::string_view judge(const field& f) {
    switch (f.id) {
      case field_id::host:
        if (++hosts > 1) return "more than one Host";
        if (!valid_authority(f.value)) return "Host is empty or malformed";
        if (!head.absolute_form) head.authority = f.value;
        return {};
      case field_id::content_length:
      case field_id::transfer_encoding: judge_framing_field(framing, f, head.minor); return framing.reason;
      case field_id::connection: judge_connection(connection, head, f.value, true, options); return connection.reason;
      case field_id::upgrade: upgrade_field = true; return {};
      case field_id::expect: head.expect_continue |= head.minor > 0 && iequals(f.value, "100-continue"); return {};
      default: return is_framing_alias(f) ? "an underscore alias of a framing field" : std::string_view();
    }
  }

  std::string_view finish() {
    if (hosts == 0 && head.minor > 0) return "Host is missing";
    head.keep_alive = !connection.close && (head.minor > 0 || connection.keep_alive);
    head.upgrade = connection.upgrade && upgrade_field && head.minor > 0;
    head.body = {};
    if (framing.chunked) head.body = {framing_kind::chunked, 0};
    if (framing.length) head.body = {framing_kind::length, *framing.length};
    return {};
  }
};

rejection judge_fields(request_head& head) {
  request_judge judge{head};
  for (const field& f : head.fields) {
    if (std::string_view reason = judge.judge(f); !reason.empty()) return {400, reason};
  }
  if (std::string_view reason = judge.finish(); !reason.empty()) return {400, reason};
  // RFC 9112 §6.1. Last, since only a head without any fault can be said to be merely not supported.
  return judge.framing.coded ? rejection{501, "Transfer-Encoding has another coding before chunked"} : fine;
}

std::size_t skip_empty_lines(std::string_view bytes, std::size_t at) {
  while (at < max_skipped && bytes.substr(at, 2) == "\r\n") at += 2;
  return at;
}

bool may_be_empty_line(std::string_view bytes, std::size_t at) { return at < max_skipped && bytes.substr(at) == "\r"; }

}  // namespace

parse_result request_parser::parse(std::string_view bytes) {
  if (scan_.lines == 0) {
    scan_.start = skip_empty_lines(bytes, scan_.start);
    scan_.line = scan_.start;
    scan_.next = std::max(scan_.next, scan_.start);
    if (may_be_empty_line(bytes, scan_.start)) return parse_result::need_more;
  }
  const parse_result scanned = scan_head(bytes, scan_, limits_, request_line, why_);
  if (scanned != parse_result::complete) return scanned;

  size_ = scan_.next;
  head_.expect_continue = false;
  tokenizer<true> tokens(head_.fields);
  if (auto reason = tokens.run(bytes.substr(scan_.start, size_ - scan_.start)); !reason.empty())
    return reject({400, reason});
  head_.method = tokens.method();
  head_.target = tokens.target();
  head_.minor = tokens.minor();
  if (head_.method == "CONNECT") return reject({405, "CONNECT is not supported"});
  if (auto reason = split_target(head_); !reason.empty()) return reject({400, reason});
  if (const rejection r = judge_fields(head_); !r.reason.empty()) return reject(r);
  return parse_result::complete;
}

bool request_parser::started(std::string_view bytes) const {
  const std::size_t at = skip_empty_lines(bytes, 0);
  return at < bytes.size() && !may_be_empty_line(bytes, at);
}

bool request_parser::is_head(std::string_view bytes) const {
  return bytes.substr(skip_empty_lines(bytes, 0)).starts_with("HEAD ");
}

void request_parser::reset() {
  scan_ = {};
  size_ = 0;
  why_ = {};
  // a head that is refused leaves them as they are, and the bytes of the one before are gone
  head_.method = head_.path = {};
}

parse_result request_parser::reject(rejection why) {
  why_ = why;
  return parse_result::rejected;
}

}  // namespace idem::http
