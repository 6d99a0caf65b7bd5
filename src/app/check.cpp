#include "app/check.hpp"

#include <algorithm>
#include <cstdio>

#include "idem/app/app.hpp"
#include "idem/config/show.hpp"
#include "idem/text/decimal.hpp"

namespace idem::app {

void print(const config::load_result& result) {
  for (const auto& f : result.findings) std::fprintf(stderr, "%s\n", f.text().c_str());
}

namespace {

void print_route(const config::route& r, double per_second, const char* mark) {
  const auto& settings = r.idempotency;
  std::printf("%s%s: %s\n", mark, r.name.c_str(), config::show_times(settings).c_str());
  if (per_second <= 0) return;
  const auto size = config::estimate(settings, per_second);
  std::printf("%s%s: %g new keys/s are %llu records, %s with answers of 1 KiB, at most %s with answers of %s\n", mark,
              r.name.c_str(), per_second, static_cast<unsigned long long>(size.records),
              config::show_bytes(size.typical).c_str(), config::show_bytes(size.largest).c_str(),
              config::show_bytes(settings.max_stored_body).c_str());
}

bool by_credential(const config::route& r) {
  const auto& c = r.idempotency;
  return c.mode != config::route_mode::off && std::ranges::any_of(c.scope, [](const config::source& s) {
           return s.type == config::source::kind::credential;
         });
}

/// What no check can see in the file: how long the callers' tokens live.
void explain_credentials(const std::vector<config::route>& routes, const char* mark) {
  std::string names;
  for (const auto& r : routes) {
    if (by_credential(r)) names += (names.empty() ? "" : ", ") + r.name;
  }
  if (names.empty()) return;
  std::printf(
      "%s%s: callers are told apart by Authorization and X-Api-Key; a retry with a refreshed token is another caller's "
      "and executes again\n",
      mark, names.c_str());
}

}  // namespace

int check(const check_options& options) {
  const auto result = config::load_file(options.file);
  print(result);
  if (!result.ok()) return invalid_configuration;
  const auto& routes = result.config->routes;
  // what follows the YAML is a comment in it, so that the whole can be read as a file
  const char* const mark = options.show ? "# " : "";
  if (options.show) std::printf("%s", config::show_routes(*result.config).c_str());
  std::printf("%s%s: good, %zu route%s\n", mark, options.file.c_str(), routes.size(), routes.size() == 1 ? "" : "s");
  for (const auto& r : routes) print_route(r, options.per_second, mark);
  explain_credentials(routes, mark);
  return ok;
}

bool parse_admin_address(std::string_view text, config::endpoint& out) {
  out = {};
  out.text = text;
  if (text.starts_with("unix:")) {
    out.unix_path = text.substr(5);
    return !out.unix_path.empty();
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  auto host = text.substr(0, colon);
  const auto port = text::parse_decimal<std::uint16_t>(text.substr(colon + 1));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  out.host = host;
  out.port = port.value_or(0);
  const bool name = !out.host.empty() && out.host.find('/') == std::string::npos;  // a URL would be looked up
  return name && out.port != 0;
}

}  // namespace idem::app
