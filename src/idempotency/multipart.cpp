#include "idempotency/multipart.hpp"

#include "idem/text/field_syntax.hpp"

namespace idem::idempotency {
namespace {

constexpr auto npos = std::string_view::npos;

enum class delimiter : unsigned char { next, closing, bad };

// What stands behind `--boundary`; reads up to the end of its line.
delimiter take_delimiter_end(std::string_view& text) {
  const bool closing = text.starts_with("--");
  if (closing) text.remove_prefix(2);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (closing && text.empty()) return delimiter::closing;
  if (!text.starts_with("\r\n")) return delimiter::bad;
  text.remove_prefix(2);
  return closing ? delimiter::closing : delimiter::next;
}

bool parse_header(std::string_view line, multipart_part& part) {
  const std::size_t colon = line.find(':');
  if (colon == npos || colon == 0 || line.front() == ' ' || line.front() == '\t') return false;
  if (line.find_first_of("\r\n") != npos) return false;
  part.headers.emplace_back(text::lower_case(text::trim_ows(line.substr(0, colon))),
                            text::trim_ows(line.substr(colon + 1)));
  return true;
}

bool parse_part(std::string_view text, multipart_part& part) {
  for (;;) {
    const std::size_t end = text.find("\r\n");
    if (end == npos) return false;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (line.empty()) break;
    if (!parse_header(line, part)) return false;
  }
  part.content = text;
  return true;
}

// Cuts off what stands before the next delimiter, and the delimiter up to its boundary.
bool take_until(std::string_view& text, std::string_view separator, std::string_view& before) {
  const std::size_t at = text.find(separator);
  if (at == npos) return false;
  before = text.substr(0, at);
  text.remove_prefix(at + separator.size());
  return true;
}

}  // namespace

std::optional<multipart_body> parse_multipart(std::string_view body, std::string_view boundary) {
  const std::string separator = "\r\n--" + std::string(boundary);
  const std::string_view first = std::string_view(separator).substr(2);
  multipart_body result;
  if (body.starts_with(first)) {
    body.remove_prefix(first.size());
  } else if (!take_until(body, separator, result.preamble)) {
    return std::nullopt;
  }
  for (;;) {
    switch (take_delimiter_end(body)) {
      case delimiter::bad: return std::nullopt;
      case delimiter::closing: result.epilogue = body; return result;
      case delimiter::next: break;
    }
    std::string_view part;
    if (!take_until(body, separator, part) || !parse_part(part, result.parts.emplace_back())) return std::nullopt;
  }
}

}  // namespace idem::idempotency
