// `run`: everything from reading the file to the exit code.
#pragma once

#include <string>

namespace idem::app {

/// Serves until SIGTERM or SIGINT; a second one ends at once. SIGHUP and changes of the file reload it.
int serve(const std::string& file);

}  // namespace idem::app
