#include "idem/idempotency/key.hpp"

#include "idem/memory/block_pool.hpp"
#include "idem/text/field_syntax.hpp"
#include "idem/text/hex.hpp"
#include "idempotency/structured_field.hpp"

namespace idem::idempotency {
namespace {

using structured_field::string_result;

parsed_key refuse(std::string_view why) {
  parsed_key k;
  k.why = why;
  return k;
}

parsed_key parse_quoted(std::string_view text) {
  parsed_key k;
  switch (structured_field::take_string(text, k.value)) {
    case string_result::ok: break;
    case string_result::unterminated: return refuse("The idempotency key's closing quote is missing; add it.");
    case string_result::bad_escape:
      return refuse(
          "In a quoted idempotency key a backslash stands only before a quote or another backslash; write it so.");
    case string_result::bad_byte:
      return refuse("The idempotency key holds control or non-ASCII characters; use printable ASCII ones only.");
  }
  if (!structured_field::skip_parameters(text) || !text.empty())
    return refuse("Only well-formed parameters may follow a quoted idempotency key; leave out what stands behind it.");
  k.ok = true;
  return k;
}

parsed_key parse_bare(std::string_view text) {
  for (const char c : text) {
    if (c == ' ') return refuse("An idempotency key without quotes cannot hold spaces; put it in double quotes.");
    if (c < 0x20 || c > 0x7e)
      return refuse("The idempotency key holds control or non-ASCII characters; use printable ASCII ones only.");
    if (c == ',')
      return refuse("An idempotency key without quotes cannot hold a comma; send one key, or put it in double quotes.");
    if (c == '"' || c == ';')
      return refuse("An idempotency key with a quote or a semicolon must stand in double quotes as a whole; quote it.");
  }
  parsed_key k;
  k.ok = true;
  if (text.size() > k.value.capacity()) k.value = memory::take_string();
  k.value = text;
  return k;
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : text::hex_value(text[i]) < 0) return false;
  }
  return true;
}

}  // namespace

parsed_key parse_key(std::span<const std::string_view> lines, const key_syntax& syntax) {
  if (lines.size() != 1) return refuse("The idempotency key must stand in exactly one header line; send it once.");
  const std::string_view text = text::trim_ows(lines.front());
  const bool quoted = text.starts_with('"');
  if (!quoted && syntax.strict && !text.empty())
    return refuse("This operation takes the idempotency key in double quotes only; quote it.");
  parsed_key k = quoted ? parse_quoted(text) : parse_bare(text);
  if (!k.ok) return k;
  if (k.value.empty()) return refuse("The idempotency key is empty; send one that is unique to this operation.");
  if (k.value.size() > syntax.max_length)
    return refuse("The idempotency key is longer than this operation accepts; use a shorter one.");
  if (syntax.uuid) {
    if (!is_uuid(k.value)) return refuse("This operation takes a UUID as idempotency key; send one in its usual form.");
    k.value = text::lower_case(k.value);
  }
  return k;
}

}  // namespace idem::idempotency
