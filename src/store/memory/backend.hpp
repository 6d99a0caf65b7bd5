// The store of one process: records live and die with it. For development, tests and single instances.
#pragma once

#include <cstddef>
#include <memory>

#include "idem/store/store.hpp"

namespace idem::store::memory {

std::unique_ptr<backend> make_backend(std::size_t max_bytes);

}  // namespace idem::store::memory
