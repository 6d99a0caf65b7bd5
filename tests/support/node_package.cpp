#include "support/node_package.hpp"

#include <fstream>
#include <sstream>

#include "support/child_process.hpp"

namespace idem::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string content(const fs::path& file) {
  std::ostringstream all;
  all << std::ifstream(file, std::ios::binary).rdbuf();
  return all.str();
}

bool node_package::node_is_there() { return succeeds({"sh", "-c", "command -v node && command -v npm"}); }

fs::path node_package::installed() const { return fs::path(IDEM_BINARY).parent_path() / source_.filename(); }

std::string node_package::install() const {
  const auto to = installed();
  const auto wanted = content(source_ / "package-lock.json");
  fs::create_directories(to);
  for (const auto& file : fs::directory_iterator(source_)) {
    if (file.path().extension() != ".js") continue;
    fs::copy_file(file.path(), to / file.path().filename(), fs::copy_options::overwrite_existing);
  }
  if (content(to / "installed-lock.json") == wanted) return {};
  fs::remove(to / "installed-lock.json");
  for (const auto* name : {"package.json", "package-lock.json", ".npmrc"}) {
    fs::copy_file(source_ / name, to / name, fs::copy_options::overwrite_existing);
  }
  fs::remove(to / "npm.log");
  child_process npm({"npm", "ci", "--ignore-scripts", "--prefix", to.string()}, (to / "npm.log").string());
  if (finish(npm, 180s) != 0) return "npm ci failed:\n" + content(to / "npm.log");
  std::ofstream(to / "installed-lock.json", std::ios::binary) << wanted;
  return {};
}

}  // namespace idem::test
