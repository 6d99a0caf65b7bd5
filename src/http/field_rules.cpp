#include "http/field_rules.hpp"
#include "idem/text/decimal.hpp"
#include "idem/text/field_syntax.hpp"

#include <algorithm>
#include <array>

namespace idem::http {
namespace {

constexpr std::size_t max_options = 64;

bool is_protected(field_id id) {
  switch (id) {
    case field_id::content_length:
    case field_id::transfer_encoding:
    case field_id::host:
    case field_id::idempotency_key:
    case field_id::authorization:
    case field_id::proxy_authorization:
    case field_id::x_api_key:
    case field_id::cookie: return true;
    default: return false;
  }
}

/// The codings of RFC 9112 §7.2, under all of their names, but chunked.
bool is_compression(std::string_view coding) {
  constexpr std::array<std::string_view, 5> known = {"gzip", "deflate", "compress", "x-gzip", "x-compress"};
  return std::any_of(known.begin(), known.end(), [coding](std::string_view k) { return iequals(coding, k); });
}

bool is_compressed_then_chunked(std::string_view codings) {
  bool compressed = false;
  while (codings.find(',') != std::string_view::npos) {
    if (!is_compression(text::take_member(codings))) return false;
    compressed = true;
  }
  return compressed && iequals(text::trim_ows(codings), "chunked");
}

void mark_named(field_list& list, std::string_view name, field_id id) {
  for (field& f : list.fields) {
    if (f.id == id && (id != field_id::other || iequals(f.name, name))) f.hop_by_hop = true;
  }
}

void judge_option(connection_options& sum, field_list& list, std::string_view option, bool protect) {
  const field_id id = field_id_of(option);
  if (id == field_id::keep_alive) {
    sum.keep_alive = true;
  } else if (id == field_id::upgrade) {
    sum.upgrade = true;
  } else if (id == field_id::other && iequals(option, "close")) {
    sum.close = true;
  } else if (protect && is_protected(id)) {
    sum.reason = "Connection names a field that must reach the backend";
  } else {
    mark_named(list, option, id);
  }
}

}  // namespace

bool lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    if (iequals(text::take_member(list), name)) return true;
  }
  return false;
}

std::optional<std::uint64_t> parse_length(std::string_view value) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 63;
  const auto n = text::parse_strict_decimal<std::uint64_t>(value);
  return n && *n < limit ? n : std::nullopt;
}

void judge_framing_field(framing_fields& sum, const field& f, unsigned minor) {
  if (sum.chunked || sum.coded || sum.length) {
    sum.reason = "more than one field says how the body is framed";
  } else if (f.id == field_id::content_length) {
    sum.length = parse_length(f.value);
    if (!sum.length) sum.reason = "Content-Length is not one decimal number";
  } else if (minor == 0) {
    sum.reason = "Transfer-Encoding in an HTTP/1.0 message";
  } else {
    sum.chunked = iequals(f.value, "chunked");
    sum.coded = !sum.chunked && is_compressed_then_chunked(f.value);
    if (!sum.chunked && !sum.coded) sum.reason = "Transfer-Encoding is not exactly chunked";
  }
}

void judge_connection(connection_options& sum, field_list& list, std::string_view value, bool protect,
                      std::size_t& options) {
  while (!value.empty() && sum.reason.empty()) {
    const std::string_view option = text::take_member(value);
    if (option.empty()) continue;
    if (++options > max_options) {
      sum.reason = "Connection names too many fields";
    } else {
      judge_option(sum, list, option, protect);
    }
  }
}

std::vector<std::string_view> connection_names(const field_list& head) {
  std::vector<std::string_view> names;
  for (const field& f : head.fields) {
    if (f.id != field_id::connection) continue;
    for (std::string_view rest = f.value; !rest.empty();) {
      if (const auto name = text::take_member(rest); !name.empty()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace idem::http
