#include "idem/http/made_field.hpp"

#include "http/tokenizer.hpp"
#include "idem/text/field_syntax.hpp"

namespace idem::http {

std::string_view made_field_fault(std::string_view name, std::string_view value) {
  if (!text::is_token(name)) return "the name is not a token";
  if (!text::is_field_text(value)) return "the value has a control character";
  const auto id = field_id_of(name);
  if (id == field_id::content_length) return "the length is that of the body";
  if (is_hop_by_hop(id)) return "it belongs to one connection, not to an answer";
  if (id == field_id::idempotency_status || id == field_id::idempotent_replayed) return "the proxy itself writes it";
  return {};
}

}  // namespace idem::http
