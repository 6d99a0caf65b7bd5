#include "idempotency/fingerprint_body.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

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
bool is_field_name(std::string_view text) { return !text.starts_with('/'); }

bool lists(const names& list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }

class field_filter {
 public:
  explicit field_filter(const config::fingerprint_config& settings)
      : settings_(settings), all_(std::none_of(settings.include.begin(), settings.include.end(), is_field_name)) {}

  bool counts(std::string_view name) const {
    if (!is_field_name(name)) return all_;
    return (all_ || lists(settings_.include, name)) && !lists(settings_.exclude, name);
  }

 private:
  const config::fingerprint_config& settings_;
  bool all_;
};

/// The fields of a form, decoded into one text: a body may have half a million of them.
class form_fields {
 public:
  explicit form_fields(std::size_t size) : text_(memory::take_string()) { text_.reserve(size); }
  form_fields(const form_fields&) = delete;
  form_fields& operator=(const form_fields&) = delete;
  ~form_fields() { memory::give_back_string(std::move(text_)); }

  /// False: the field does not decode.
  bool add(std::string_view raw_name, std::string_view raw_value, const field_filter& filter) {
    field f{narrow(text_.size()), 0, 0};
    if (!append_form_decoded(text_, raw_name)) return false;
    f.name_size = narrow(text_.size()) - f.begin;
    if (!append_form_decoded(text_, raw_value)) return false;
    f.value_size = narrow(text_.size()) - f.begin - f.name_size;
    if (filter.counts(name(f))) fields_.push_back(f);
    return true;
  }

  /// By name; fields of one name stay in the order they came in.
  void sort() {
    const auto before = [this](const field& a, const field& b) {
      const int order = name(a).compare(name(b));
      return order != 0 ? order < 0 : a.begin < b.begin;
    };
    if (!std::is_sorted(fields_.begin(), fields_.end(), before)) std::sort(fields_.begin(), fields_.end(), before);
  }

  void put(sha256& hash) const {
    hash.update_number(fields_.size());
    for (const field& f : fields_) {
      hash.update_sized(name(f));
      hash.update_sized(std::string_view(text_).substr(f.begin + f.name_size, f.value_size));
    }
  }

 private:
  // small, since sorting moves it about; no route buffers more than 32 bits can tell
  struct field {
    std::uint32_t begin, name_size, value_size;  // in text_, the value behind the name
  };

  static std::uint32_t narrow(std::size_t offset) { return static_cast<std::uint32_t>(offset); }
  std::string_view name(const field& f) const { return std::string_view(text_).substr(f.begin, f.name_size); }

  std::string text_;
  boost::container::small_vector<field, 32> fields_;
};

bool put_form(sha256& hash, const config::fingerprint_config& settings, std::string_view body) {
  form_fields fields(body.size());
  const field_filter filter(settings);
  bool decodes = true;
  for_each_pair(body, [&](std::string_view name, std::string_view value) {
    decodes = decodes && fields.add(name, value, filter);
  });
  if (!decodes) return false;
  fields.sort();
  hash.update_sized("form");
  fields.put(hash);
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
