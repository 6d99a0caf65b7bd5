// A configuration and the files that it names, read so that a change meanwhile can be told.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "idem/config/load.hpp"

namespace idem::app {

/// By path, the SHA-256 of what each file holds: not the content itself, which may be a private key. Empty for one that
/// cannot be read, and for a pipe.
using file_digests = std::map<std::string, std::string>;

file_digests digests_of(const std::vector<std::string>& files);
std::vector<std::string> paths_of(const file_digests& files);

struct reading {
  config::load_result loaded;
  /// Of the file, and of the certificates, keys and secrets that it names; of `known` where it cannot be used. They are
  /// older than what was loaded, never newer: while they fit, nothing has changed since.
  file_digests seen;
};

/// `known` are the files that it named last time, for as long as nothing else is known.
reading read_configuration(const std::string& file, std::vector<std::string> known = {});

}  // namespace idem::app
