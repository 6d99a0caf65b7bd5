// Redis and its relatives (Valkey and others) as the store.
#pragma once

#include <memory>

#include "idem/config/config.hpp"
#include "idem/store/store.hpp"

namespace idem::store::redis {

std::unique_ptr<backend> make_backend(const config::redis_config& settings);

}  // namespace idem::store::redis
