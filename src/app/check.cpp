#include "app/check.hpp"

#include <charconv>
#include <cstdio>

#include "idem/app/app.hpp"

namespace idem::app {

void print(const config::load_result& result) {
  for (const auto& f : result.findings) std::fprintf(stderr, "%s\n", f.text().c_str());
}

int check(const std::string& file) {
  const auto result = config::load_file(file);
  print(result);
  if (!result.ok()) return invalid_configuration;
  std::printf("%s: good, %zu route%s\n", file.c_str(), result.config->routes.size(),
              result.config->routes.size() == 1 ? "" : "s");
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
  const auto port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  out.host = host;
  const auto [end, ec] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  return ec == std::errc{} && end == port.data() + port.size() && out.port != 0 && !out.host.empty();
}

}  // namespace idem::app
