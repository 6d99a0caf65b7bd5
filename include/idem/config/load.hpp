// Reading, checking and explaining a configuration file. Everything is found in one run, each fault at its place.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"

namespace idem::config {

/// One line for the user: `FILE:LINE:COLUMN: error: KEY.PATH: what is wrong, what was expected`.
struct finding {
  enum class severity { error, warning };
  severity level = severity::error;
  std::string file;
  int line = 0;    ///< from 1; 0 when the file as a whole is meant
  int column = 0;  ///< from 1
  std::string key_path;
  std::string message;

  std::string text() const;
};

struct load_result {
  std::shared_ptr<const snapshot> config;  ///< null if there is an error among the findings
  std::vector<finding> findings;           ///< in the order of the file
  /// Certificates, keys and secrets that were read, or should have been: another content of theirs can turn an error
  /// into a configuration, and one configuration into another. Sorted.
  std::vector<std::string> files;

  bool ok() const { return config != nullptr; }
};

/// Loads FILE, expands `${VAR}` and `${VAR:-default}` from the environment, reads `*_file` secrets, checks everything.
/// Never throws; a file that cannot be read is a finding. No network, no store.
/// @param running what a process was started with that is to take the file up, or null. It keeps its listeners and its
///   store until it ends, whatever the file says of them; what it takes up is checked against those, too.
load_result load_file(const std::string& path, const snapshot* running = nullptr);

/// The same for text in memory; `name` stands in for the file's name.
load_result load_text(std::string_view text, const std::string& name, const snapshot* running = nullptr);

}  // namespace idem::config
