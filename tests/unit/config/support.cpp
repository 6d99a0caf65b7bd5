#include "unit/config/support.hpp"

namespace idem::config::test {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "\n  " + line;
  return out.empty() ? " nothing" : out;
}

}  // namespace

std::vector<std::string> lines_of(const load_result& result) {
  std::vector<std::string> lines;
  for (const finding& f : result.findings) lines.push_back(f.text());
  return lines;
}

load_result loaded(const std::string& text) {
  load_result result = load_text(text, "f");
  EXPECT_TRUE(result.ok()) << "found:" << joined(lines_of(result));
  return result;
}

std::string with_routes(std::string_view routes) {
  return "upstream: {url: \"http://127.0.0.1:3000\"}\nstore: {type: redis}\n" + std::string(routes);
}

std::string with_block(std::string_view block) {
  return with_routes("routes:\n  - name: a\n    match: {path: /a}\n    idempotency:\n      " + std::string(block) +
                     "\n");
}

testing::AssertionResult reports(const std::string& text, const std::string& start, const std::string& part) {
  const load_result result = load_text(text, "f");
  const auto lines = lines_of(result);
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (line.starts_with(start)) found.push_back(line);
  }
  if (found.size() != 1 || found[0].find(part) == std::string::npos) {
    return testing::AssertionFailure() << "wanted: " << start << " … " << part << "\nfound:" << joined(lines);
  }
  if (start.find(": error: ") != std::string::npos && result.ok()) {
    return testing::AssertionFailure() << "an error, and yet a configuration";
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult is_clean(const std::string& text) {
  const load_result result = load_text(text, "f");
  if (result.ok() && result.findings.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "found:" << joined(lines_of(result));
}

}  // namespace idem::config::test
