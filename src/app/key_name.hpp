// The name of a key's record from what an operator knows: the same identity code as for requests, on a request made up
// from the command line.
#pragma once

#include <string>

#include "app/key_command.hpp"
#include "idem/config/config.hpp"

namespace idem::app {

/// Empty with `why` as a sentence if the name cannot be told.
std::string record_name_of(const config::snapshot& c, const config::route& route, const key_request& q,
                           std::string& why);

}  // namespace idem::app
