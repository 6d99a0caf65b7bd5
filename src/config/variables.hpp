// `${VAR}` and `${VAR:-default}` in scalar values.
#pragma once

#include <string>
#include <string_view>

#include "config/parsed.hpp"

namespace idem::config {

/// Replaces every variable by its value in the environment. The default stands in where the variable is unset or empty;
/// without one, an unset variable is the failure. Any other `$` stays as it is.
parsed<std::string> expand_variables(std::string_view text);

}  // namespace idem::config
