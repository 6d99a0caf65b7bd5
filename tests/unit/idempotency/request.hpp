// A request as identity and fingerprint see it, built by a test.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "idem/idempotency/identity.hpp"

namespace idem::idempotency::testing {

class request {
 public:
  request() {
    head_.method = "POST";
    head_.authority = "api.example.com";
    head_.path = head_.target = "/v1/charges";
  }

  request& method(std::string_view text) { return head_.method = text, *this; }
  request& authority(std::string_view text) { return head_.authority = text, *this; }
  request& path(std::string_view text) { return head_.path = text, *this; }
  request& query(std::string_view text) { return head_.query = text, head_.has_query = true, *this; }
  request& header(std::string_view name, std::string_view value) {
    head_.fields.push_back({name, value, http::field_id_of(name), false});
    return *this;
  }
  request& capture(std::string_view name, std::string_view value) {
    captures_.emplace_back(name, value);
    return *this;
  }
  request& body(std::string_view text) { return body_ = text, body_known_ = true, *this; }

  request_view view() const { return {&head_, &captures_, body_, body_known_}; }

 private:
  http::request_head head_;
  config::path_captures captures_;
  std::string_view body_;
  bool body_known_ = false;
};

/// A source as the configuration would make it of `kind:name`.
inline config::source source(std::string_view text) {
  using kind = config::source::kind;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view word = text.substr(0, colon);
  config::source s;
  s.text = text;
  s.name = text.substr(std::min(colon + 1, text.size()));
  s.type = word == "header"       ? kind::header
           : word == "query"      ? kind::query
           : word == "path"       ? kind::path
           : word == "json"       ? kind::json
           : word == "form"       ? kind::form
           : word == "xml"        ? kind::xml
           : word == "credential" ? kind::credential
           : word == "cookie"     ? kind::cookie
           : word == "const"      ? kind::constant
           : word == "jwt"        ? kind::jwt
           : word == "mtls"       ? kind::mtls
                                  : kind::fingerprint;
  return s;
}

}  // namespace idem::idempotency::testing
