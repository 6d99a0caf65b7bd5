#include "idempotency/key_source.hpp"

#include "idem/idempotency/fingerprint.hpp"
#include "idem/idempotency/key.hpp"
#include "idem/text/hex.hpp"
#include "idempotency/form.hpp"
#include "idempotency/media_type.hpp"
#include "idempotency/scope.hpp"
#include "idempotency/xml_lookup.hpp"

namespace idem::idempotency {
namespace {

using kind = config::source::kind;

source_value refused(std::string_view why) {
  source_value v;
  v.result = source_value::kind::refused;
  v.why = why;
  return v;
}

source_value need_body() {
  source_value v;
  v.result = source_value::kind::need_body;
  return v;
}

source_value from_header(std::string_view name, const config::key_config& key, const http::request_head& head) {
  boost::container::small_vector<std::string_view, 4> lines;
  for (const http::field& f : head.fields)
    if (http::iequals(f.name, name)) lines.push_back(f.value);
  if (lines.empty()) return {};
  parsed_key parsed = parse_key({lines.data(), lines.size()}, {key.max_length, key.strict, key.uuid});
  if (!parsed.ok) return refused(parsed.why);
  source_value v;
  v.result = source_value::kind::value;
  v.value = std::move(parsed.value);
  return v;
}

// Values that stand elsewhere than in a header are bytes, whatever they are; an empty one is none.
source_value bounded(std::string value, const config::key_config& key) {
  if (value.empty()) return {};
  if (value.size() > key.max_length)
    return refused("The idempotency key is longer than this operation accepts; use a shorter one.");
  source_value v;
  v.result = source_value::kind::value;
  v.value = std::move(value);
  return v;
}

source_value from_lookup(lookup_result&& found, const config::key_config& key) {
  switch (found.result) {
    case lookup::absent: return {};
    case lookup::found: return bounded(std::move(found.value), key);
    case lookup::ambiguous:
      return refused("The idempotency key stands in more than one place of the request; send it in one only.");
    case lookup::malformed:
      return refused("The idempotency key is not percent-encoded correctly; correct its encoding.");
  }
  return {};
}

// A form is told by its media type: any bytes at all would parse as one.
source_value from_form(const config::source& source, const config::key_config& key, const request_view& request) {
  if (syntax_of(request.head->value(http::field_id::content_type)) != body_syntax::form) return {};
  return request.body_known ? from_lookup(find_in_form(request.body, source.name), key) : need_body();
}

source_value from_fingerprint(const config::fingerprint_config& settings, const request_view& request) {
  if (!request.body_known && settings.body != config::body_mode::none) return need_body();
  const fingerprint f = compute_fingerprint(settings, request);
  source_value v;
  v.result = source_value::kind::value;
  v.value.resize(2 * f.digest.size());
  text::write_hex(v.value.data(), f.digest.data(), f.digest.size());
  return v;
}

}  // namespace

source_value read_source(const config::source& source, const config::idempotency_config& route,
                         const request_view& request) {
  const config::key_config& key = route.key;
  switch (source.type) {
    case kind::header: return from_header(source.name, key, *request.head);
    case kind::query: return from_lookup(find_in_form(request.head->query, source.name), key);
    case kind::path: return bounded(std::string(captured(request, source.name).value_or("")), key);
    case kind::json:
      return request.body_known ? from_lookup(find_in_json_as_written(request.body, source.name), key) : need_body();
    case kind::form: return from_form(source, key, request);
    case kind::xml: return request.body_known ? from_lookup(find_in_xml(request.body, source.name), key) : need_body();
    case kind::fingerprint: return from_fingerprint(route.fingerprint, request);
    case kind::jwt:
      return bounded(std::string(request.token ? request.token->claim(source.name).value_or("") : ""), key);
    // the check of the configuration lets none of these into a key
    case kind::credential:
    case kind::cookie:
    case kind::mtls:
    case kind::constant: return {};
  }
  return {};
}

}  // namespace idem::idempotency
