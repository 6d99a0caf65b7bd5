// The store of one process: records live and die with it. For development, tests and single instances.
#pragma once

#include <cstddef>
#include <memory>

#include "idem/store/store.hpp"

namespace idem::store::memory {

/// @param max_bytes of all records together, with what the tables need for them; past it new keys are refused
std::unique_ptr<backend> make_backend(std::size_t max_bytes);

}  // namespace idem::store::memory
