#include "proxy/stored_answer.hpp"

#include <algorithm>

#include "idem/http/writer.hpp"

namespace idem::proxy {

using http::field_id;

namespace {

/// Not stored: a replay comes through this proxy as well, whose configuration may have changed.
constexpr std::string_view via_line = "Via: 1.1 idempotency-proxy\r\n";

bool is_ours(field_id id) { return id == field_id::idempotency_status || id == field_id::idempotent_replayed; }

bool is_framing(field_id id) {
  return id == field_id::content_length || id == field_id::transfer_encoding || id == field_id::trailer;
}

/// A Content-Length that only describes, since no body can follow: of an answer to HEAD, and of a 304.
bool describes(const http::field& f, const http::response_head& head) {
  return f.id == field_id::content_length && head.body.kind == http::framing_kind::none && head.status != 204 &&
         head.status >= 200;
}

bool is_dropped(const http::field& f, const std::vector<std::string>& drop) {
  return std::any_of(drop.begin(), drop.end(), [&](const auto& d) { return http::iequals(d, f.name); });
}

bool bodyless(unsigned status) { return status < 200 || status == 204 || status == 304; }

/// Fields that describe a body which `status_only` does not send.
bool describes_body(std::string_view name) {
  constexpr std::string_view names[] = {"Content-Encoding", "Content-Range", "ETag",       "Digest",
                                        "Content-Digest",   "Repr-Digest",   "Content-MD5"};
  return std::any_of(std::begin(names), std::end(names), [&](auto n) { return http::iequals(n, name); });
}

}  // namespace

void append_header_block(std::string& block, const http::response_head& head, const std::vector<std::string>& drop) {
  block += head.reason;
  block += "\r\n";
  for (const auto& f : head.fields) {
    if (f.hop_by_hop || is_ours(f.id)) continue;
    // what a 304 says of a length is about a representation that may have changed by the time of its replay
    if (is_framing(f.id) && (!describes(f, head) || head.status == 304)) continue;
    if (is_dropped(f, drop)) continue;
    http::append_field(block, f.name, f.value);
  }
}

void append_no_content_block(std::string& block, const http::response_head& head,
                             const std::vector<std::string>& drop) {
  constexpr std::string_view content = "Content-";
  block += "No Content\r\n";
  for (const auto& f : head.fields) {
    if (f.hop_by_hop || is_ours(f.id) || is_framing(f.id) || describes_body(f.name)) continue;
    if (http::iequals(f.name.substr(0, content.size()), content) || http::iequals(f.name, "Last-Modified")) continue;
    if (is_dropped(f, drop)) continue;
    http::append_field(block, f.name, f.value);
  }
}

void append_block_lines(std::string& out, unsigned status, std::string_view block, bool via) {
  const auto end = block.find("\r\n");
  http::append_status_line(out, status, block.substr(0, end));
  out += block.substr(end + 2);
  if (via) out += via_line;
}

void append_answer_lines(std::string& out, const http::response_head& head, bool via) {
  http::append_status_line(out, head.status, head.reason);
  for (const auto& f : head.fields) {
    if (f.hop_by_hop || f.id == field_id::idempotency_status) continue;
    if (is_framing(f.id) && !describes(f, head)) continue;
    http::append_field(out, f.name, f.value);
  }
  if (via) out += via_line;
}

void end_answer_head(std::string& out, const client_connection& c, http::framing plan, bool close,
                     std::string_view extra) {
  http::append_framing(out, plan);
  if (close) {
    out += "Connection: close\r\n";
  } else if (c.keep_alive_10()) {
    out += "Connection: keep-alive\r\n";
  }
  out += extra;
  out += "\r\n";
}

namespace {

/// Returns the bytes of the body.
std::size_t append_replay(std::string& out, const client_connection& c, const idempotency::record& r) {
  const bool with_body = !bodyless(r.status) && !c.facts.head_method;
  http::append_status_line(out, r.status, r.reason());
  out += r.header_lines();
  if (c.runtime->config->server.via) out += via_line;
  if (with_body) http::append_framing(out, {http::framing_kind::length, r.body.size()});
  end_answer_head(out, c, {}, c.must_close(), "Idempotent-Replayed: true\r\n");
  if (!with_body) return 0;
  out += r.body;
  return r.body.size();
}

void append_status_only(std::string& out, const client_connection& c, const idempotency::record& r) {
  http::append_status_line(out, r.status, r.reason());
  auto lines = r.header_lines();
  while (!lines.empty()) {
    const auto end = lines.find("\r\n");
    const auto line = lines.substr(0, end);
    const auto name = line.substr(0, line.find(':'));
    if (!describes_body(name) && !http::iequals(name, "Content-Length")) (out += line) += "\r\n";
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 2);
  }
  if (c.runtime->config->server.via) out += via_line;
  if (!bodyless(r.status)) http::append_framing(out, {http::framing_kind::length, 0});
  end_answer_head(out, c, {}, c.must_close(), "Idempotent-Replayed: true\r\nIdempotency-Status: answer-not-kept\r\n");
}

}  // namespace

void answer_from_record(client_connection& c, const idempotency::record& r, bool status_only) {
  c.out.clear();
  c.log.status = r.status;
  c.log.bytes_out = 0;
  if (status_only) {
    append_status_only(c.out, c, r);
    c.log.what = telemetry::decision::answer_not_kept;
  } else {
    c.log.bytes_out = append_replay(c.out, c, r);
    c.log.what = telemetry::decision::replayed;
  }
}

}  // namespace idem::proxy
