#include "idem/http/head.hpp"

#include "http/field_rules.hpp"
#include "idem/text/ascii.hpp"

namespace idem::http {

namespace {

field_id if_equal(std::string_view name, std::string_view known, field_id id) {
  return iequals(name, known) ? id : field_id::other;
}

field_id long_name(std::string_view name, char first) {
  switch (name.size()) {
    case 15:
      return first == 'i' ? if_equal(name, "idempotency-key", field_id::idempotency_key)
                          : if_equal(name, "x-forwarded-for", field_id::x_forwarded_for);
    case 16:
      if (first == 'c') return if_equal(name, "content-encoding", field_id::content_encoding);
      return first == 'p' ? if_equal(name, "proxy-connection", field_id::proxy_connection)
                          : if_equal(name, "x-forwarded-host", field_id::x_forwarded_host);
    case 17:
      return first == 't' ? if_equal(name, "transfer-encoding", field_id::transfer_encoding)
                          : if_equal(name, "x-forwarded-proto", field_id::x_forwarded_proto);
    case 18: return if_equal(name, "idempotency-status", field_id::idempotency_status);
    case 19:
      if (first == 'p') return if_equal(name, "proxy-authorization", field_id::proxy_authorization);
      return text::to_lower(name[9]) == 'c' ? if_equal(name, "idempotency-attempt", field_id::idempotency_attempt)
                                            : if_equal(name, "idempotent-replayed", field_id::idempotent_replayed);
    default: return field_id::other;
  }
}

}  // namespace

field_id field_id_of(std::string_view name) {
  if (name.empty()) return field_id::other;
  const char first = text::to_lower(name.front());
  switch (name.size()) {
    case 2: return if_equal(name, "te", field_id::te);
    case 3: return if_equal(name, "via", field_id::via);
    case 4: return if_equal(name, "host", field_id::host);
    case 6:
      return first == 'e' ? if_equal(name, "expect", field_id::expect) : if_equal(name, "cookie", field_id::cookie);
    case 7:
      return first == 'u' ? if_equal(name, "upgrade", field_id::upgrade) : if_equal(name, "trailer", field_id::trailer);
    case 9: return if_equal(name, "x-api-key", field_id::x_api_key);
    case 10:
      return first == 'c' ? if_equal(name, "connection", field_id::connection)
                          : if_equal(name, "keep-alive", field_id::keep_alive);
    case 11: return if_equal(name, "retry-after", field_id::retry_after);
    case 12: return if_equal(name, "content-type", field_id::content_type);
    case 13: return if_equal(name, "authorization", field_id::authorization);
    case 14: return if_equal(name, "content-length", field_id::content_length);
    default: return long_name(name, first);
  }
}

const field* field_list::find(field_id id) const {
  for (const field& f : fields) {
    if (f.id == id) return &f;
  }
  return nullptr;
}

const field* field_list::find(std::string_view name) const {
  for (const field& f : fields) {
    if (iequals(f.name, name)) return &f;
  }
  return nullptr;
}

std::string_view field_list::value(field_id id) const {
  const field* f = find(id);
  return f ? f->value : std::string_view();
}

std::size_t field_list::count(field_id id) const {
  std::size_t n = 0;
  for (const field& f : fields) n += f.id == id;
  return n;
}

bool field_list::named_by_connection(std::string_view name) const {
  for (const field& f : fields) {
    if (f.id == field_id::connection && lists(f.value, name)) return true;
  }
  return false;
}

}  // namespace idem::http
