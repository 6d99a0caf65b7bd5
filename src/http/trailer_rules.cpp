#include "http/trailer_rules.hpp"
#include "idem/text/ascii.hpp"

#include <algorithm>
#include <array>

namespace idem::http {
namespace {

// Lower case. An underscore in a trailer's name counts as a dash, since CGI-like backends cannot tell them apart.
constexpr std::array<std::string_view, 35> forbidden_names = {"age",
                                                              "allow",
                                                              "authentication-info",
                                                              "authorization",
                                                              "cache-control",
                                                              "connection",
                                                              "cookie",
                                                              "cookie2",
                                                              "date",
                                                              "early-data",
                                                              "expect",
                                                              "expires",
                                                              "forwarded",
                                                              "from",
                                                              "host",
                                                              "keep-alive",
                                                              "location",
                                                              "max-forwards",
                                                              "origin",
                                                              "pragma",
                                                              "range",
                                                              "referer",
                                                              "retry-after",
                                                              "set-cookie",
                                                              "set-cookie2",
                                                              "te",
                                                              "trailer",
                                                              "transfer-encoding",
                                                              "upgrade",
                                                              "user-agent",
                                                              "vary",
                                                              "via",
                                                              "warning",
                                                              "www-authenticate",
                                                              "strict-transport-security"};

// Families: conditionals, proxy and client addresses, the proxy's own fields, API keys and URL overrides.
constexpr std::array<std::string_view, 17> forbidden_prefixes = {
    "accept",        "access-control-", "content-",   "http2-",  "idempotency-", "idempotent-",
    "if-",           "proxy-",          "sec-",       "x-api-",  "x-auth",       "x-forwarded",
    "x-http-method", "x-method",        "x-original", "x-real-", "x-rewrite-"};

// The only members of the content- family that exist to be sent after the content (RFC 9530).
constexpr std::array<std::string_view, 2> allowed_names = {"content-digest", "content-md5"};

char fold(char c) { return c == '_' ? '-' : text::to_lower(c); }

bool equals_folded(std::string_view name, std::string_view known) {
  return std::equal(name.begin(), name.end(), known.begin(), known.end(), [](char a, char b) { return fold(a) == b; });
}

}  // namespace

bool is_forbidden_trailer(std::string_view name) {
  const auto is_name = [name](std::string_view known) { return equals_folded(name, known); };
  const auto is_prefix = [name](std::string_view known) { return equals_folded(name.substr(0, known.size()), known); };
  if (std::any_of(allowed_names.begin(), allowed_names.end(), is_name)) return false;
  return std::any_of(forbidden_names.begin(), forbidden_names.end(), is_name) ||
         std::any_of(forbidden_prefixes.begin(), forbidden_prefixes.end(), is_prefix);
}

}  // namespace idem::http
