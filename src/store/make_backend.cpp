#include "idem/store/store.hpp"
#include "store/memory/backend.hpp"
#include "store/redis/backend.hpp"

namespace idem::store {

std::unique_ptr<backend> make_backend(const config::store_config& settings) {
  switch (settings.type) {
    case config::store_type::memory: break;
    case config::store_type::redis: return redis::make_backend(settings.redis);
  }
  return memory::make_backend(settings.memory_max_bytes);
}

}  // namespace idem::store
