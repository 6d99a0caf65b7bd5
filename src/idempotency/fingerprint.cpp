#include "idem/idempotency/fingerprint.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "idempotency/ascii.hpp"
#include "idempotency/fingerprint_body.hpp"
#include "idempotency/fingerprint_settings.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {
namespace {

// Every value goes in behind its length, and every list behind its count: no two requests give one stream of bytes.

void put_query(sha256& hash, const http::request_head& head) {
  boost::container::small_vector<std::string_view, 16> pairs;
  std::string_view rest = head.query;
  for (bool more = head.has_query; more;) {
    const std::size_t end = rest.find('&');
    more = end != std::string_view::npos;
    pairs.push_back(rest.substr(0, end));
    if (more) rest.remove_prefix(end + 1);
  }
  std::sort(pairs.begin(), pairs.end());
  hash.update_number(pairs.size());
  for (const std::string_view pair : pairs) hash.update_sized(pair);
}

void put_header(sha256& hash, const std::string& name, const http::request_head& head) {
  hash.update_sized(name);
  std::uint64_t lines = 0;
  for (const http::field& f : head.fields)
    if (http::iequals(f.name, name)) ++lines;
  hash.update_number(lines);
  for (const http::field& f : head.fields)
    if (http::iequals(f.name, name)) hash.update_sized(trim(f.value));
}

// The boundary does not count where the body was read by it; elsewhere the backend may read the body by it.
void put_content_type(sha256& hash, const std::string& name, const http::request_head& head,
                      const std::optional<body_of_parts>& parts) {
  if (!parts) return put_header(hash, name, head);
  hash.update_sized(name);
  hash.update_number(1);
  hash.update_sized(parts->type);
}

void put_lower_case(sha256& hash, std::string_view text) {
  hash.update_number(text.size());
  char part[64];
  while (!text.empty()) {
    const std::size_t n = std::min(text.size(), sizeof part);
    std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n), part, to_lower);
    hash.update({part, n});
    text.remove_prefix(n);
  }
}

/// The authority without its port: by which port a client came in says nothing about what it wants, and a retry may
/// come in by another one (a forwarded port, another replica of the proxy).
std::string_view host_of(std::string_view authority) {
  const auto colon = authority.rfind(':');
  const auto bracket = authority.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) return authority;
  return authority.substr(0, colon);
}

}  // namespace

fingerprint compute_fingerprint(const config::fingerprint_config& settings, const request_view& request) {
  return compute_fingerprint(prepared_settings(settings), request);
}

fingerprint compute_fingerprint(const prepared_settings& prepared, const request_view& request) {
  const config::fingerprint_config& settings = *prepared.settings;
  const http::request_head& head = *request.head;
  sha256 hash;
  hash.update("f1");
  hash.update_sized(head.method);
  put_lower_case(hash, host_of(head.authority));
  hash.update_sized(head.path);
  if (settings.query) put_query(hash, head);
  hash.update_number(prepared.headers.size());
  const std::string_view type = head.value(http::field_id::content_type);
  std::optional<body_of_parts> parts;  // of two types a backend may take either
  if (head.count(http::field_id::content_type) == 1) parts = read_parts(settings, type, request.body);
  for (const std::string& name : prepared.headers) {
    if (name == "content-type") {
      put_content_type(hash, name, head, parts);
    } else {
      put_header(hash, name, head);
    }
  }
  put_body(hash, settings, type, request.body, parts);
  fingerprint f;
  f.digest = hash.finish();
  f.version = fingerprint_version;
  f.settings = prepared.hash;
  return f;
}

}  // namespace idem::idempotency
