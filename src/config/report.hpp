// Collects what is wrong with a file, so that one run shows all of it.
#pragma once

#include <cstddef>
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

  /// Everything in the order of the file, each line once: a fault in `defaults` is met again for every route.
  std::vector<finding> in_file_order() const;

 private:
  void add(finding::severity level, const place& at, std::string message);

  std::string file_;
  std::vector<finding> findings_;
  std::size_t errors_ = 0;
};

/// Text of the user in double quotes, on one line whatever it holds, cut when it is long.
std::string quoted(std::string_view text);

}  // namespace idem::config
