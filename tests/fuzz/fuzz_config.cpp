// Any text as a configuration file: no crash, and what is said about it keeps its promises.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/check.hpp"
#include "idem/config/load.hpp"

namespace {

using idem::config::finding;
using idem::config::load_result;
using idem::fuzz::check;

void check_findings(const load_result& result) {
  bool error = false;
  int last_line = 0;
  for (const finding& f : result.findings) {
    error = error || f.level == finding::severity::error;
    check(f.text().find('\n') == std::string::npos, "a finding is one line");
    check(f.line >= last_line, "findings are in the order of the file");
    check(!f.message.empty(), "a finding says something");
    last_line = f.line;
  }
  check(error != result.ok(), "there is a configuration exactly when there is no error");
}

void check_routes(const idem::config::snapshot& config) {
  idem::config::path_captures captures;
  for (const auto& route : config.routes) {
    const auto& idempotency = route.idempotency;
    check(!route.name.empty() && !route.match.methods.empty(), "a route has a name and methods");
    check(!idempotency.key.from.empty(), "a key comes from somewhere");
    check(idempotency.retention >= idempotency.lease && idempotency.hold >= idempotency.lease,
          "records outlive a lease");
    check(route.match.covers(route.match), "a route covers itself");
    config.find(route.match.methods[0], route.match.host, route.match.path, captures);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const load_result result = idem::config::load_text(text, "f");
  check_findings(result);
  if (result.ok()) check_routes(*result.config);
  return 0;
}
