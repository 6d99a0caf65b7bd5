#include "proxy/cors.hpp"

#include <algorithm>

namespace idem::proxy {
namespace {

/// What depends on the origin must not be taken for an answer to another one, not even to a request without any.
constexpr std::string_view varies = "Vary: Origin\r\n";

std::string lines_allowing(std::string_view origin, bool credentials) {
  std::string lines = "Access-Control-Allow-Origin: ";
  lines += origin;
  lines += "\r\nAccess-Control-Expose-Headers: Retry-After, Idempotency-Status\r\n";
  if (credentials) lines += "Access-Control-Allow-Credentials: true\r\n";
  return lines;
}

/// The only Origin of the request; nothing where there are none or several, of which nobody can tell who is meant.
std::string_view origin_of(const http::request_head& head) {
  std::string_view origin;
  bool found = false;
  for (const auto& f : head.fields) {
    if (!http::iequals(f.name, "Origin")) continue;
    if (found) return {};
    found = true;
    origin = f.value;
  }
  return origin;
}

}  // namespace

cors_lines::cors_lines(const config::cors_config& settings) {
  if (settings.any_origin()) {
    otherwise_ = lines_allowing("*", false);
    return;
  }
  if (settings.origins.empty()) return;
  otherwise_ = varies;
  for (const auto& origin : settings.origins) {
    origins_.push_back({origin, lines_allowing(origin, settings.credentials).append(varies)});
  }
}

std::string_view cors_lines::answering(const http::request_head& head) const {
  if (origins_.empty()) return otherwise_;
  const auto origin = origin_of(head);
  const auto allowed =
      std::find_if(origins_.begin(), origins_.end(), [&](const auto& o) { return o.origin == origin; });
  return allowed == origins_.end() ? otherwise_ : allowed->lines;
}

}  // namespace idem::proxy
