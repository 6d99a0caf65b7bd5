#include "idem/net/task.hpp"

#include <array>
#include <cstdint>
#include <new>

namespace idem::net {

namespace {

/// Frames of one thread that are free for the next coroutines. One may be given back on another thread than the one
/// that took it: memory is memory.
class frame_pool {
 public:
  constexpr frame_pool() = default;
  ~frame_pool() {
    for (auto& l : free_) {
      while (auto* b = l.first) {
        l.first = b->next;
        ::operator delete(b);
      }
      l.count = kept;  // frames that end after this go straight to the heap
    }
  }

  void* take(std::size_t size) {
    const auto c = class_of(size);
    if (c >= classes) return ::operator new(size);
    auto& l = free_[c];
    if (l.first == nullptr) return ::operator new((c + 1) * step);
    auto* b = l.first;
    l.first = b->next;
    --l.count;
    return b;
  }

  void give_back(void* p, std::size_t size) noexcept {
    const auto c = class_of(size);
    if (!reuses || c >= classes || free_[c].count >= kept) {
      ::operator delete(p);
      return;
    }
    free_[c].first = ::new (p) block{free_[c].first};
    ++free_[c].count;
  }

 private:
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  static constexpr bool reuses = false;  // a frame that is used after its end must be noticed
#else
  static constexpr bool reuses = true;
#endif
  static constexpr std::size_t step = 128, classes = 64;
  static constexpr std::uint32_t kept = 256;  ///< of each size

  static constexpr std::size_t class_of(std::size_t size) { return (size - 1) / step; }

  struct block {
    block* next;
  };
  struct list {
    block* first = nullptr;
    std::uint32_t count = 0;
  };
  std::array<list, classes> free_{};
};

thread_local constinit frame_pool pool;

}  // namespace

void* frame::operator new(std::size_t size) { return pool.take(size); }
void frame::operator delete(void* p, std::size_t size) noexcept { pool.give_back(p, size); }

void resumption::abandon() noexcept {
  auto* first = std::exchange(frame_, nullptr);
  while (first->caller_) first = first->caller_;
  first->handle_.destroy();
}

}  // namespace idem::net
