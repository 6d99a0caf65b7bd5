#include "idempotency/scope.hpp"

#include <algorithm>

#include "idem/memory/block_pool.hpp"
#include "idem/text/ascii.hpp"
#include "idem/text/field_syntax.hpp"

namespace idem::idempotency {
namespace {

using kind = config::source::kind;

// All lines count, never the first alone: a second line would otherwise be a way into somebody else's scope. A line
// feed cannot stand inside of a line, so no two lists of lines join to one text.
void join_line(std::optional<std::string>& all, std::string_view line) {
  if (all) {
    *all += '\n';
    *all += line;
  } else {
    if (line.size() > all.emplace().capacity()) *all = memory::take_string();
    *all = line;
  }
}

std::optional<std::string> header_lines(const http::request_head& head, std::string_view name) {
  std::optional<std::string> all;
  for (const http::field& f : head.fields)
    if (text::iequals(f.name, name)) join_line(all, f.value);
  return all;
}

// An empty credential names nobody.
std::optional<std::string> credential(const http::request_head& head, http::field_id id) {
  std::optional<std::string> all;
  for (const http::field& f : head.fields)
    if (f.id == id && !f.value.empty()) join_line(all, f.value);
  return all;
}

// RFC 6265 §4.2.1; names are compared with their case. A name that comes twice counts with all of its values.
std::optional<std::string> cookie(const http::request_head& head, std::string_view name) {
  std::optional<std::string> all;
  for (const http::field& f : head.fields) {
    if (f.id != http::field_id::cookie) continue;
    std::string_view rest = f.value;
    while (!rest.empty()) {
      const std::string_view pair = text::trim_ows(text::take_part(rest, ';'));
      const std::size_t equals = pair.find('=');
      if (equals != std::string_view::npos && text::trim_ows(pair.substr(0, equals)) == name)
        join_line(all, text::trim_ows(pair.substr(equals + 1)));
    }
  }
  return all;
}

bool icontains(std::string_view text, std::string_view part) {
  while (text.size() >= part.size()) {
    if (text::istarts_with(text, part)) return true;
    text.remove_prefix(1);
  }
  return false;
}

// Schemes whose value is made anew for each try, from a time, a nonce or the message itself, or that authenticate a
// connection. Registered ones: OAuth (RFC 5849), Digest (RFC 7616), DPoP (RFC 9449), Negotiate (RFC 4559), HOBA (RFC
// 7486), Mutual (RFC 8120), SCRAM-… (RFC 7804), PrivateToken (RFC 9577), Concealed (RFC 9729). Signatures of requests:
// those of object stores (AWS, AWS4-…, GOOG1, GOOG4-…, SharedKey) and the many that are called …-HMAC-SHA256.
bool changes_with_each_try(std::string_view authorization) {
  const std::string_view scheme = authorization.substr(0, authorization.find_first_of(" \t,"));
  static constexpr std::string_view schemes[] = {
      "OAuth", "Digest", "Signature", "Hawk",  "DPoP",      "Negotiate",     "NTLM",         "HOBA",     "Mutual",
      "MAC",   "HMAC",   "AWS",       "GOOG1", "SharedKey", "SharedKeyLite", "PrivateToken", "Concealed"};
  if (std::any_of(std::begin(schemes), std::end(schemes), [&](std::string_view s) { return text::iequals(scheme, s); }))
    return true;
  static constexpr std::string_view families[] = {"AWS4-", "GOOG4-", "SCRAM-", "HMAC-", "WECHATPAY2-"};
  return std::any_of(std::begin(families), std::end(families),
                     [&](std::string_view f) { return text::istarts_with(scheme, f); }) ||
         (scheme.size() < authorization.size() && icontains(scheme, "-HMAC-"));  // a key alone may hold anything
}

// A cookie that the scope names tells callers apart by itself.
bool takes_cookies(const std::vector<config::source>& scope) {
  return std::any_of(scope.begin(), scope.end(), [](const config::source& s) {
    return s.type == kind::cookie || (s.type == kind::header && text::iequals(s.name, "cookie"));
  });
}

std::optional<std::string> claim(const request_view& request, std::string_view name) {
  const auto value = request.token ? request.token->claim(name) : std::nullopt;
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

// An empty subject names nobody.
std::optional<std::string> subject(const request_view& request) {
  const auto& value = request.client_subject;
  return value && !value->empty() ? std::optional<std::string>(*value) : std::nullopt;
}

// All callers without the claim, or without a subject, would be one.
std::optional<std::string_view> unnamed_caller(const std::vector<config::source>& scope, const request_view& request) {
  for (const config::source& s : scope) {
    if (s.type == kind::jwt && !claim(request, s.name))
      return "The token of this request lacks the claim that tells callers apart here. Ask for a token that has it.";
    if (s.type == kind::mtls && !subject(request))
      return "The certificate of this client has no subject, which is what tells callers apart here.";
  }
  return std::nullopt;
}

void append_part(name_parts& parts, const config::source& s, const request_view& request) {
  const http::request_head& head = *request.head;
  switch (s.type) {
    case kind::credential:
      parts.push_back({"credential:authorization", credential(head, http::field_id::authorization)});
      parts.push_back({"credential:x-api-key", credential(head, http::field_id::x_api_key)});
      return;
    case kind::header: parts.push_back({s.text, header_lines(head, s.name)}); return;
    case kind::cookie: parts.push_back({s.text, cookie(head, s.name)}); return;
    case kind::constant: parts.push_back({s.text, s.name}); return;
    case kind::path: {
      const auto value = captured(request, s.name);
      parts.push_back({s.text, value ? std::optional<std::string>(*value) : std::nullopt});
      return;
    }
    case kind::jwt: parts.push_back({s.text, claim(request, s.name)}); return;
    case kind::mtls: parts.push_back({s.text, subject(request)}); return;
    // the check of the configuration lets none of these into a scope
    case kind::query:
    case kind::json:
    case kind::form:
    case kind::xml:
    case kind::fingerprint: parts.push_back({s.text, std::nullopt}); return;
  }
}

}  // namespace

name_parts scope_parts(const std::vector<config::source>& scope, const request_view& request) {
  name_parts parts;
  for (const config::source& s : scope) append_part(parts, s, request);
  return parts;
}

std::optional<std::string_view> scope_refusal(const std::vector<config::source>& scope, const request_view& request) {
  if (const auto why = unnamed_caller(scope, request)) return why;
  const http::request_head& head = *request.head;
  const bool by_credential =
      std::any_of(scope.begin(), scope.end(), [](const config::source& s) { return s.type == kind::credential; });
  if (!by_credential) return std::nullopt;
  bool named = false, has_cookie = false;
  for (const http::field& f : head.fields) {
    if (f.value.empty()) continue;
    if (f.id == http::field_id::authorization && changes_with_each_try(f.value))
      return "The Authorization of this request is made anew for each try or connection, so that a retry could not be "
             "told from another caller's request. Ask the operator of this API to replace `credential` in the route's "
             "scope by what stays the same, such as header:NAME or \"path:{name}\".";
    named = named || f.id == http::field_id::authorization || f.id == http::field_id::x_api_key;
    has_cookie = has_cookie || f.id == http::field_id::cookie;
  }
  if (named || !has_cookie || takes_cookies(scope)) return std::nullopt;
  return "This request names its caller by a cookie only. Send Authorization or X-Api-Key, or ask the operator of this "
         "API "
         "to add cookie:NAME, with the name of the session's cookie, to the route's scope.";
}

std::optional<std::string_view> captured(const request_view& request, std::string_view name) {
  if (name.size() > 2 && name.front() == '{' && name.back() == '}') name = name.substr(1, name.size() - 2);
  if (request.captures == nullptr) return std::nullopt;
  for (const auto& [key, value] : *request.captures)
    if (key == name && !value.empty()) return value;
  return std::nullopt;
}

}  // namespace idem::idempotency
