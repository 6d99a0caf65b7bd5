#include "idempotency/fingerprint_body.hpp"

#include <algorithm>

#include "idem/idempotency/fingerprint.hpp"
#include "idem/memory/block_pool.hpp"
#include "idempotency/form.hpp"
#include "idempotency/media_type.hpp"
#include "idempotency/multipart.hpp"

namespace idem::idempotency {
namespace {

using config::body_mode;
using names = std::vector<std::string>;

body_mode mode_for(std::string_view content_type) {
  switch (syntax_of(content_type)) {
    case body_syntax::json: return body_mode::json;
    case body_syntax::form: return body_mode::form;
    case body_syntax::multipart: return body_mode::multipart;
    case body_syntax::other: break;
  }
  return body_mode::raw;
}

bool put_json(sha256& hash, const config::fingerprint_config& settings, std::string_view body) {
  auto text = canonical_json(body, settings.exclude, settings.include);
  if (!text) return false;
  hash.update_sized("json");
  hash.update_sized(*text);
  memory::give_back_string(std::move(*text));
  return true;
}

// With `auto` one list serves JSON and forms alike: what begins with a slash is a pointer, the rest are field names.
bool is_field_name(const std::string& text) { return !text.starts_with('/'); }

bool lists(const names& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

class field_filter {
 public:
  explicit field_filter(const config::fingerprint_config& settings)
      : settings_(settings), all_(std::none_of(settings.include.begin(), settings.include.end(), is_field_name)) {}

  bool counts(const std::string& name) const {
    if (!is_field_name(name)) return all_;
    return (all_ || lists(settings_.include, name)) && !lists(settings_.exclude, name);
  }

 private:
  const config::fingerprint_config& settings_;
  bool all_;
};

struct form_field {
  std::string name, value;
  std::size_t position;
};

// By name; fields of one name stay in the order they came in.
bool before(const form_field& a, const form_field& b) {
  const int order = a.name.compare(b.name);
  return order != 0 ? order < 0 : a.position < b.position;
}

bool put_form(sha256& hash, const config::fingerprint_config& settings, std::string_view body) {
  std::vector<form_field> fields;
  const field_filter filter(settings);
  bool decodes = true;
  for_each_pair(body, [&](std::string_view raw_name, std::string_view raw_value) {
    auto name = form_decode(raw_name), value = form_decode(raw_value);
    decodes = decodes && name && value;
    if (decodes && filter.counts(*name)) fields.push_back({std::move(*name), std::move(*value), fields.size()});
  });
  if (!decodes) return false;
  std::sort(fields.begin(), fields.end(), before);
  hash.update_sized("form");
  hash.update_number(fields.size());
  for (const form_field& f : fields) {
    hash.update_sized(f.name);
    hash.update_sized(f.value);
  }
  return true;
}

bool put_multipart(sha256& hash, std::string_view content_type, std::string_view body) {
  const auto type = split_boundary(content_type);
  if (!type) return false;
  const auto parsed = parse_multipart(body, type->boundary);
  if (!parsed) return false;
  hash.update_sized("multipart");
  hash.update_sized(parsed->preamble);
  hash.update_number(parsed->parts.size());
  for (const multipart_part& part : parsed->parts) {
    hash.update_number(part.headers.size());
    for (const auto& [name, value] : part.headers) {
      hash.update_sized(name);
      hash.update_sized(value);
    }
    hash.update_sized(part.content);
  }
  hash.update_sized(parsed->epilogue);
  return true;
}

bool put_parsed(sha256& hash, body_mode mode, const config::fingerprint_config& settings, std::string_view content_type,
                std::string_view body) {
  switch (mode) {
    case body_mode::json: return put_json(hash, settings, body);
    case body_mode::form: return put_form(hash, settings, body);
    case body_mode::multipart: return put_multipart(hash, content_type, body);
    case body_mode::none: hash.update_sized("none"); return true;
    case body_mode::raw:
    case body_mode::automatic: break;
  }
  return false;
}

}  // namespace

void put_body(sha256& hash, const config::fingerprint_config& settings, std::string_view content_type,
              std::string_view body) {
  const body_mode mode = settings.body == body_mode::automatic ? mode_for(content_type) : settings.body;
  if (put_parsed(hash, mode, settings, content_type, body)) return;
  hash.update_sized("raw");
  hash.update_sized(body);
}

}  // namespace idem::idempotency
