#include "idem/net/task.hpp"

#include "idem/memory/block_pool.hpp"

namespace idem::net {

void* frame::operator new(std::size_t size) { return memory::take_block(size); }
void frame::operator delete(void* p, std::size_t size) noexcept { memory::give_back_block(p, size); }

void resumption::abandon() noexcept {
  auto* first = std::exchange(frame_, nullptr);
  while (first->caller_) first = first->caller_;
  first->handle_.destroy();
}

}  // namespace idem::net
