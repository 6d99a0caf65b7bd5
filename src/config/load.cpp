#include "idem/config/load.hpp"

#include <exception>
#include <utility>

#include "config/draft.hpp"
#include "config/file.hpp"
#include "config/report.hpp"
#include "config/rules.hpp"
#include "config/tree.hpp"

namespace idem::config {
namespace {

constexpr std::size_t most_bytes = 4 * 1024 * 1024;

load_result refused(const std::string& name, const std::string& why) {
  report out(name);
  out.error({}, why);
  return {nullptr, out.in_file_order(), {}};
}

std::shared_ptr<const snapshot> build(const tree_node& root, const snapshot* running, report& out) {
  const section file(out, &root, {root.line, root.column, {}}, schema::file);
  draft all;
  read_server(file, all);
  read_admin(file, all);
  read_upstream(file, all);
  read_store(file, all);
  read_logging(file, all);
  read_routes(file, all);
  out.values_are_read();
  check_routes(all, out);
  check_environment(all, out);
  if (running) check_against_running(all, *running, out);
  if (out.errors() > 0) return nullptr;
  for (route_draft& r : all.routes) all.config.routes.push_back(std::move(r.route));
  return std::make_shared<const snapshot>(std::move(all.config));
}

}  // namespace

load_result load_text(std::string_view text, const std::string& name, const snapshot* running) {
  try {
    report out(name);
    const auto root = parse_tree(text, out);
    load_result result;
    // what the tree complained of makes the rest unreliable, but the user wants to see all of it
    if (root) result.config = build(*root, running, out);
    result.findings = out.in_file_order();
    result.files.assign(out.files().begin(), out.files().end());
    return result;
  } catch (const std::exception& e) {
    return refused(name, std::string("cannot be read: ") + e.what());
  }
}

load_result load_file(const std::string& path, const snapshot* running) {
  try {
    const auto text = read_file(path, most_bytes);
    return text ? load_text(*text, path, running) : refused(path, text.why);
  } catch (const std::exception& e) {
    return refused(path, std::string("cannot be read: ") + e.what());
  }
}

}  // namespace idem::config
