#include "idempotency/media_type.hpp"

#include "idem/text/field_syntax.hpp"

namespace idem::idempotency {
namespace {

// Cuts off what stands before the next semicolon that is not inside of quotes.
std::string_view take_piece(std::string_view& text) {
  bool quoted = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\' && i + 1 < text.size()) ++i;
    if (text[i] == ';' && !quoted) break;
  }
  i = std::min(i, text.size());
  const std::string_view piece = text::trim_ows(text.substr(0, i));
  text.remove_prefix(std::min(i + 1, text.size()));
  return piece;
}

struct parameter {
  std::string_view name, value;  // with its quotes
};

parameter read_parameter(std::string_view piece) {
  const std::string_view name = text::trim_ows(text::take_part(piece, '='));
  return {name, text::trim_ows(piece)};
}

bool has_quote(std::string_view text) { return text.find('"') != text.npos; }

// The end of the quoted string that the text begins with: behind its closing quote, npos if that is missing.
std::size_t quoted_end(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.npos;
}

bool quotes_well(const parameter& p) {
  if (has_quote(p.name)) return false;
  return p.value.starts_with('"') ? quoted_end(p.value) == p.value.size() : !has_quote(p.value);
}

// Of a text without backslashes.
std::string unquote(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  return std::string(text.substr(1, text.size() - 2));
}

std::string_view type_of(std::string_view content_type) { return take_piece(content_type); }

}  // namespace

body_syntax syntax_of(std::string_view content_type) {
  const std::string_view type = type_of(content_type);
  if (text::iequals(type, "application/json") || text::iends_with(type, "+json")) return body_syntax::json;
  if (text::iequals(type, "application/x-www-form-urlencoded")) return body_syntax::form;
  if (is_multipart(content_type)) return body_syntax::multipart;
  return body_syntax::other;
}

bool is_multipart(std::string_view content_type) { return text::istarts_with(type_of(content_type), "multipart/"); }

std::optional<bounded_type> split_boundary(std::string_view content_type) {
  const std::string_view type = take_piece(content_type);
  if (has_quote(type)) return std::nullopt;
  bounded_type result{{}, std::string(type)};
  bool found = false;
  while (!content_type.empty()) {
    const std::string_view piece = take_piece(content_type);
    const parameter p = read_parameter(piece);
    if (!quotes_well(p) || text::istarts_with(p.name, "boundary*")) return std::nullopt;
    if (!text::iequals(p.name, "boundary")) {
      result.rest.append("; ").append(piece);
      continue;
    }
    if (found || p.value.find('\\') != p.value.npos) return std::nullopt;
    found = true;
    result.boundary = unquote(p.value);
  }
  if (result.boundary.empty() || result.boundary.size() > 70) return std::nullopt;
  return result;
}

}  // namespace idem::idempotency
