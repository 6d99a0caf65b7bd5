// `key list`: all records of the store, for whoever looks for unknown outcomes, or keeps answers longer than the store.
#pragma once

#include <string>
#include <vector>

#include "idem/config/config.hpp"

namespace idem::app {

struct list_options {
  std::vector<std::string> states;  ///< --state: only these; none = all
  bool json = false;                ///< an object a line instead of a table
  bool answers = false;             ///< with the stored answers
};

/// The states that --state knows. A P that has lapsed is `unknown`.
std::vector<std::string> listed_states();

/// Prints the records to standard output and how many there are to standard error; the exit code of a key command.
int list_keys(const config::store_config& store, const list_options& options);

}  // namespace idem::app
