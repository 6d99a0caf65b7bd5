// Collects what is wrong with a file, so that one run shows all of it, and which other files it depends on.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "idem/config/load.hpp"

namespace idem::config {

/// Where something stands: position from 1 (0 = the file as a whole) and the path of its key.
struct place {
  int line = 0;
  int column = 0;
  std::string path;
};

class report {
 public:
  explicit report(std::string file) : file_(std::move(file)) {}

  void error(const place& at, std::string message) { add(finding::severity::error, at, std::move(message)); }
  void warning(const place& at, std::string message) { add(finding::severity::warning, at, std::move(message)); }
  std::size_t errors() const { return errors_; }

  /// Whether an error was found in what stands at the path `key`, in a part of it or in what it is a part of: then a
  /// default may be in force in its place, of which nothing is said. Errors after values_are_read() do not count.
  bool refused(std::string_view key) const;
  /// The same without an error of its own: it was said elsewhere what is wrong.
  void refuse(std::string key) { refused_.push_back(std::move(key)); }
  /// What is found from now on is about several values, of which each was good.
  void values_are_read() { values_are_read_ = true; }

  /// Environment variables brought in `text`, or a part of it: messages show `written`, what the file has there.
  void conceal(const std::string& text, const std::string& written) { concealed_.emplace(text, written); }
  /// A value of the configuration as messages show it: in quotes, or as it was written if variables brought it in.
  std::string value(const std::string& text) const;

  /// What is told depends on this file, whether it could be read or not.
  void depends_on(const std::string& path) { files_.insert(path); }
  const std::set<std::string>& files() const { return files_; }

  /// Everything in the order of the file, each line once: a fault in `defaults` is met again for every route.
  std::vector<finding> in_file_order() const;

 private:
  void add(finding::severity level, const place& at, std::string message);

  std::string file_;
  std::vector<finding> findings_;
  std::map<std::string, std::string> concealed_;  ///< by the value that is not to be seen
  std::set<std::string> files_;
  std::vector<std::string> refused_;
  bool values_are_read_ = false;
  std::size_t errors_ = 0;
};

/// What stands in the file, as it stands there, in double quotes, on one line whatever it holds, cut when it is long.
/// For values, which may be those of variables, there is report::value.
std::string quoted(std::string_view text);

}  // namespace idem::config
