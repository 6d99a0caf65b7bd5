#include "idempotency/media_type.hpp"

#include "idem/http/head.hpp"
#include "idempotency/ascii.hpp"

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
  const std::string_view piece = trim(text.substr(0, i));
  text.remove_prefix(std::min(i + 1, text.size()));
  return piece;
}

bool is_boundary(std::string_view parameter) {
  const std::size_t equals = parameter.find('=');
  return equals != std::string_view::npos && http::iequals(trim(parameter.substr(0, equals)), "boundary");
}

std::string unquote(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

std::string_view type_of(std::string_view content_type) { return take_piece(content_type); }

bool istarts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && http::iequals(text.substr(0, prefix.size()), prefix);
}

bool iends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && http::iequals(text.substr(text.size() - suffix.size()), suffix);
}

}  // namespace

body_syntax syntax_of(std::string_view content_type) {
  const std::string_view type = type_of(content_type);
  if (http::iequals(type, "application/json") || iends_with(type, "+json")) return body_syntax::json;
  if (http::iequals(type, "application/x-www-form-urlencoded")) return body_syntax::form;
  if (http::iequals(type, "multipart/form-data")) return body_syntax::multipart_form;
  return body_syntax::other;
}

bool is_multipart(std::string_view content_type) { return istarts_with(type_of(content_type), "multipart/"); }

std::optional<std::string> boundary_of(std::string_view content_type) {
  std::optional<std::string> found;
  take_piece(content_type);
  while (!content_type.empty()) {
    const std::string_view parameter = take_piece(content_type);
    if (!is_boundary(parameter)) continue;
    if (found) return std::nullopt;
    found = unquote(trim(parameter.substr(parameter.find('=') + 1)));
  }
  if (found && (found->empty() || found->size() > 70)) return std::nullopt;
  return found;
}

std::string without_boundary(std::string_view content_type) {
  std::string out(take_piece(content_type));
  while (!content_type.empty()) {
    const std::string_view parameter = take_piece(content_type);
    if (is_boundary(parameter)) continue;
    out += "; ";
    out += parameter;
  }
  return out;
}

}  // namespace idem::idempotency
