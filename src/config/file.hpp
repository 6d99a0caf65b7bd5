// Reading small files whole: the configuration, secrets, PEM files.
#pragma once

#include <cstddef>
#include <string>

#include "config/parsed.hpp"
#include "config/report.hpp"

namespace idem::config {

/// The content of a regular file or pipe of at most `most` bytes; else why not, e.g. `cannot be read: Is a directory`.
parsed<std::string> read_file(const std::string& path, std::size_t most);

/// The same for a file that the configuration names: `out` depends on it.
parsed<std::string> read_file(report& out, const std::string& path, std::size_t most);

/// A secret: the first line of a file, which must be its only one. Its line end does not count. `out` depends on the
/// file.
/// @param at where it is named, for a warning of what an editor may have put around it
parsed<std::string> read_secret(report& out, const place& at, const std::string& path);

}  // namespace idem::config
