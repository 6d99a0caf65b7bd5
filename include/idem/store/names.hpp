// The names of all records, for operators: nothing that serves requests asks for them.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "idem/config/config.hpp"

namespace idem::store {

/// Hands the names of the records under the store's key prefix to `take`, some at a time, each once; but not those of
/// routes that observe. What stands all the while is among them; what comes or goes meanwhile may be. Blocks.
/// @param take false ends the list
/// @return empty, or why there are not all, for the user
std::string each_record_name(const config::redis_config& settings,
                             const std::function<bool(std::span<const std::string>)>& take);

}  // namespace idem::store
