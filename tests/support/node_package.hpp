// Programs for Node.js that tests start: clients which were not made for this proxy.
#pragma once

#include <filesystem>
#include <string>

namespace idem::test {

/// A folder with package.json, a lock file and scripts. It is installed (npm ci) into the build folder, once for each
/// state of its lock file.
class node_package {
 public:
  explicit node_package(std::filesystem::path source) : source_(std::move(source)) {}

  /// Whether node and npm are installed.
  static bool node_is_there();
  /// Empty, or what went wrong.
  std::string install() const;
  /// The path of an installed script.
  std::string script(const std::string& name) const { return (installed() / name).string(); }

 private:
  std::filesystem::path installed() const;

  std::filesystem::path source_;
};

/// Everything in a file; empty if there is none.
std::string content(const std::filesystem::path& file);

}  // namespace idem::test
