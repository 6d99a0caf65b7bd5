// The block `cors`: origins as browsers send them (RFC 6454 §6.2), since they are compared byte by byte.
#include <algorithm>

#include "config/address.hpp"
#include "config/draft.hpp"
#include "config/rules.hpp"
#include "idem/text/ascii.hpp"
#include "idem/text/decimal.hpp"

namespace idem::config {
namespace {

constexpr std::string_view all_origins = "*";
constexpr const char* form = "expected scheme://host[:port], such as https://shop.example";

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

bool is_scheme(std::string_view text) {
  return !text.empty() && text::is_alpha(text.front()) && std::all_of(text.begin(), text.end(), [](char c) {
    return text::is_alnum(c) || c == '+' || c == '-' || c == '.';
  });
}

/// What is behind the colon, and in the one way that browsers write it.
std::string fault_of_port(std::string_view scheme, std::string_view text) {
  const auto port = text::parse_strict_decimal<std::uint16_t>(text);
  if (!port || *port == 0) return "has no valid port, expected a number from 1 to 65535 without zeros before it";
  const bool by_default = (scheme == "http" && *port == 80) || (scheme == "https" && *port == 443);
  return by_default ? "has the default port of its scheme, which browsers leave out, expected none" : "";
}

/// Why no browser sends `text` as an origin of one site; nothing if one can.
std::string fault_of_origin(std::string_view text) {
  if (text == "null")
    return "is what files, sandboxed frames and many others send alike, expected an origin of one site";
  if (text.find('*') != std::string_view::npos) return "has a wildcard, expected an origin in full, or * alone";
  if (std::any_of(text.begin(), text.end(), is_capital)) {
    return "has capitals, which browsers do not send, expected small letters";
  }
  const auto end_of_scheme = text.find("://");
  if (end_of_scheme == std::string_view::npos || !is_scheme(text.substr(0, end_of_scheme))) {
    return std::string("is no origin, ") + form;
  }
  const auto authority = text.substr(end_of_scheme + 3);
  const auto path = authority.find_first_of("/?#");
  if (path != std::string_view::npos) {
    if (path + 1 == authority.size() && authority.back() == '/') return "ends with a slash, expected none";
    return std::string("has a path, ") + form;
  }
  if (authority.find('@') != std::string_view::npos) return "has a user or password, expected none";
  const auto address = parse_host_port(authority, 0);
  if (!address) return address.why;
  const auto colon = authority.find(':', authority.starts_with('[') ? authority.find(']') : 0);
  if (colon == std::string_view::npos) return "";
  return fault_of_port(text.substr(0, end_of_scheme), authority.substr(colon + 1));
}

}  // namespace

void read_cors(const section& cors, idempotency_draft& out) {
  cors_config& to = out.config.cors;
  if (cors.flag("credentials", to.credentials)) out.cors_credentials = cors.where("credentials");
  const auto origins = cors.texts("origins", "origins such as https://shop.example");
  if (!origins) return;
  out.cors_origins = cors.where("origins");
  to.origins.clear();
  for (const scalar& origin : *origins) {
    const std::string fault = origin.text == all_origins ? "" : fault_of_origin(origin.text);
    if (!fault.empty()) {
      cors.out().error(origin.at, origin.shown + " " + fault);
    } else if (std::find(to.origins.begin(), to.origins.end(), origin.text) != to.origins.end()) {
      cors.out().error(origin.at, origin.shown + " stands twice in the list");
    } else if (origin.text == all_origins && origins->size() > 1) {
      cors.out().error(origin.at, origin.shown + " stands beside others, expected it alone, or none but origins");
    }
    to.origins.push_back(origin.text);
  }
}

void check_cors(const route_draft& route, report& out) {
  const cors_config& c = route.idempotency.config.cors;
  if (!c.credentials || !c.any_origin()) return;
  const place credentials = route.where(route.idempotency.cors_credentials, "idempotency.cors.credentials");
  out.error(route.where(route.idempotency.cors_origins, "idempotency.cors.origins"),
            "\"*\" does not go with `credentials: true` on line " + std::to_string(credentials.line) +
                ", since browsers refuse both together, expected the origins in full");
}

}  // namespace idem::config
