#include "idempotency/structured_field.hpp"

#include "idem/text/field_syntax.hpp"

namespace idem::idempotency::structured_field {
namespace {

using text::is_alpha;
using text::is_digit;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// §3.3.4
bool may_stand_in_token(char c) { return text::is_token_char(c) || c == ':' || c == '/'; }

std::size_t skip_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  text.remove_prefix(n);
  return n;
}

// §4.2.4: at most 15 digits, or at most 12 before and 3 after the point
bool skip_number(std::string_view& text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t whole = skip_digits(text);
  if (!text.starts_with('.')) return whole >= 1 && whole <= 15;
  text.remove_prefix(1);
  const std::size_t part = skip_digits(text);
  return whole >= 1 && whole <= 12 && part >= 1 && part <= 3;
}

void skip_token(std::string_view& text) {
  while (!text.empty() && may_stand_in_token(text.front())) text.remove_prefix(1);
}

// §4.2.7: the alphabet of base64 between two colons; whether it decodes makes no difference to a thing we ignore
bool skip_bytes(std::string_view& text) {
  text.remove_prefix(1);
  while (!text.empty() && text.front() != ':') {
    const char c = text.front();
    if (!is_alpha(c) && !is_digit(c) && c != '+' && c != '/' && c != '=') return false;
    text.remove_prefix(1);
  }
  if (text.empty()) return false;
  text.remove_prefix(1);
  return true;
}

bool skip_boolean(std::string_view& text) {
  if (!text.starts_with("?0") && !text.starts_with("?1")) return false;
  text.remove_prefix(2);
  return true;
}

bool skip_bare_item(std::string_view& text) {
  if (text.empty()) return false;
  const char c = text.front();
  if (c == '-' || is_digit(c)) return skip_number(text);
  if (c == '"') {
    std::string ignored;
    return take_string(text, ignored) == string_result::ok;
  }
  if (c == '?') return skip_boolean(text);
  if (c == ':') return skip_bytes(text);
  if (c != '*' && !is_alpha(c)) return false;
  skip_token(text);
  return true;
}

bool skip_name(std::string_view& text) {
  if (text.empty() || (!is_lower(text.front()) && text.front() != '*')) return false;
  while (!text.empty()) {
    const char c = text.front();
    if (!is_lower(c) && !is_digit(c) && c != '_' && c != '-' && c != '.' && c != '*') break;
    text.remove_prefix(1);
  }
  return true;
}

}  // namespace

string_result take_string(std::string_view& text, std::string& out) {
  text.remove_prefix(1);
  while (!text.empty()) {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return string_result::ok;
    if (c == '\\') {
      if (text.empty()) return string_result::unterminated;
      c = text.front();
      if (c != '"' && c != '\\') return string_result::bad_escape;
      text.remove_prefix(1);
    } else if (c < 0x20 || c > 0x7e) {
      return string_result::bad_byte;
    }
    out += c;
  }
  return string_result::unterminated;
}

bool skip_parameters(std::string_view& text) {
  while (text.starts_with(';')) {
    text.remove_prefix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (!skip_name(text)) return false;
    if (!text.starts_with('=')) continue;
    text.remove_prefix(1);
    if (!skip_bare_item(text)) return false;
  }
  return true;
}

}  // namespace idem::idempotency::structured_field
