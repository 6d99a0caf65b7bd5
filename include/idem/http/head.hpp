// Heads of HTTP/1.x messages as views into the caller's read buffer (RFC 9110, RFC 9112; docs/http-behaviour.md).
//
// The structures own nothing but their vector of fields, which is reused from message to message. A view is valid
// as long as the bytes that were given to the parser stay where they are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "idem/text/ascii.hpp"

namespace idem::http {

/// Fields that the proxy itself acts upon. Everything else is `other` and passes untouched.
enum class field_id : std::uint8_t {
  other,
  host,
  connection,
  keep_alive,
  proxy_connection,
  te,
  trailer,
  transfer_encoding,
  content_length,
  upgrade,
  expect,
  authorization,
  proxy_authorization,
  x_api_key,
  cookie,
  content_type,
  content_encoding,
  idempotency_key,
  idempotency_status,
  idempotency_attempt,
  idempotent_replayed,
  x_forwarded_for,
  x_forwarded_proto,
  x_forwarded_host,
  via,
  retry_after
};

/// Case-insensitive look-up of a name; `other` for what is not listed.
field_id field_id_of(std::string_view name);

/// How names of fields are compared.
using text::iequals;

struct field {
  std::string_view name;   ///< case as it came
  std::string_view value;  ///< without surrounding white space
  field_id id = field_id::other;
  bool hop_by_hop = false;  ///< must not be forwarded: listed in RFC 9110 §7.6.1, or named by Connection
};

enum class framing_kind : std::uint8_t { none, length, chunked, until_close };

/// How a body is delimited. `length` counts only with framing_kind::length.
struct framing {
  framing_kind kind = framing_kind::none;
  std::uint64_t length = 0;

  bool has_body() const { return kind != framing_kind::none && !(kind == framing_kind::length && length == 0); }
  friend bool operator==(const framing&, const framing&) = default;
};

/// Fields in their order, with look-ups that every head needs.
struct field_list {
  std::vector<field> fields;

  const field* find(field_id id) const;            ///< the first, or nullptr
  const field* find(std::string_view name) const;  ///< the first, or nullptr; any case
  std::string_view value(field_id id) const;       ///< of the first, or empty
  std::size_t count(field_id id) const;
  /// Whether Connection names it (RFC 9110 §7.6.1), be there such a field or not.
  bool named_by_connection(std::string_view name) const;
};

struct request_head : field_list {
  std::string_view method;
  std::string_view target;  ///< as it came
  std::string_view path;    ///< without query, as it came; "/" if a URL has none; "*" for OPTIONS *
  std::string_view query;   ///< after the question mark
  bool has_query = false;
  std::string_view authority;  ///< of an absolute-form target, else Host; may be empty only in HTTP/1.0
  bool absolute_form = false;  ///< then Host is regenerated from `authority`
  unsigned minor = 1;          ///< HTTP/1.minor
  framing body;
  bool keep_alive = false;       ///< what the client asks for
  bool expect_continue = false;  ///< Expect: 100-continue, HTTP/1.1
  bool upgrade = false;          ///< Connection: upgrade and Upgrade, HTTP/1.1
};

struct response_head : field_list {
  unsigned status = 0;  ///< 100 … 599
  std::string_view reason;
  unsigned minor = 1;
  framing body;             ///< none for HEAD, 1xx, 204 and 304, whatever the fields say
  bool keep_alive = false;  ///< whether the backend's connection can be used again once the body is read
};

}  // namespace idem::http
