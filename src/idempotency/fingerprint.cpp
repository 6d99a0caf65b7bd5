#include "idem/idempotency/fingerprint.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "idem/text/authority.hpp"
#include "idem/text/field_syntax.hpp"
#include "idempotency/fingerprint_body.hpp"
#include "idempotency/fingerprint_settings.hpp"
#include "idempotency/media_type.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {
namespace {

// Every value goes in behind its length, and every list behind its count: no two requests give one stream of bytes.

/// By name; what has the same name stays in the order it came in.
bool before(std::string_view a, std::string_view b) {
  const int order = a.substr(0, a.find('=')).compare(b.substr(0, b.find('=')));
  return order != 0 ? order < 0 : a.data() < b.data();
}

void put_query(sha256& hash, const http::request_head& head) {
  boost::container::small_vector<std::string_view, 16> pairs;
  std::string_view rest = head.query;
  for (bool more = head.has_query; more;) {
    const std::size_t size = rest.size();
    pairs.push_back(text::take_part(rest, '&'));
    more = pairs.back().size() < size;  // behind an ampersand stands one more, be it empty
  }
  std::sort(pairs.begin(), pairs.end(), before);
  hash.update_number(pairs.size());
  for (const std::string_view pair : pairs) hash.update_sized(pair);
}

// A boundary does not count, unless two readers could take two for it.
void put_content_type(sha256& hash, std::string_view value) {
  const auto split = is_multipart(value) ? split_boundary(value) : std::nullopt;
  hash.update_sized(split ? split->rest : text::trim_ows(value));
}

void put_header(sha256& hash, const std::string& name, const http::request_head& head) {
  hash.update_sized(name);
  std::uint64_t lines = 0;
  for (const http::field& f : head.fields)
    if (http::iequals(f.name, name)) ++lines;
  hash.update_number(lines);
  for (const http::field& f : head.fields)
    if (http::iequals(f.name, name)) {
      if (lines == 1 && name == "content-type") {
        put_content_type(hash, f.value);
      } else {
        hash.update_sized(text::trim_ows(f.value));
      }
    }
}

void put_lower_case(sha256& hash, std::string_view text) {
  hash.update_number(text.size());
  char part[64];
  while (!text.empty()) {
    const std::size_t n = std::min(text.size(), sizeof part);
    std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n), part, text::to_lower);
    hash.update({part, n});
    text.remove_prefix(n);
  }
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
  put_lower_case(hash, text::host_of(head.authority));
  hash.update_sized(head.path);
  if (settings.query) put_query(hash, head);
  hash.update_number(prepared.headers.size());
  for (const std::string& name : prepared.headers) put_header(hash, name, head);
  put_body(hash, settings, head.value(http::field_id::content_type), request.body);
  fingerprint f;
  f.digest = hash.finish();
  f.version = fingerprint_version;
  f.settings = prepared.hash;
  return f;
}

}  // namespace idem::idempotency
