// A configuration and the files that it names, read so that a change meanwhile can be told.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "idem/config/load.hpp"

namespace idem::app {

/// By path, the SHA-256 of what each file holds: not the content itself, which may be a private key. Empty for one that
/// cannot be read, and for what is no regular file.
using file_digests = std::map<std::string, std::string>;

file_digests digests_of(const std::vector<std::string>& files);
std::vector<std::string> paths_of(const file_digests& files);

struct reading {
  config::load_result loaded;
  /// Of the file, and of the certificates, keys and secrets that it names; where it cannot be used, of `known` as well.
  /// They are older than what was loaded, never newer: while they fit, nothing has changed since.
  file_digests seen;
};

/// @param known the files that it named last time: where it can no longer be read, they are all that is known of it
/// @param running as in config::load_file
reading read_configuration(const std::string& file, std::vector<std::string> known = {},
                           const config::snapshot* running = nullptr);

}  // namespace idem::app
