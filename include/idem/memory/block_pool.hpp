// Memory that a thread keeps for what it makes anew for each request: coroutine frames, claims, and strings with room.
//
// With many requests under way at once, blocks of one size come and go by the dozen, more than malloc keeps at hand for
// a thread; it then splits and joins chunks, at several times the cost. Under a sanitizer nothing is kept, so that use
// after the end is noticed.
#pragma once

#include <cstddef>
#include <string>

namespace idem::memory {

/// At least `size` bytes, aligned for everything that needs no more than operator new gives.
void* take_block(std::size_t size);
/// @param size as it was taken with. On any thread: memory is memory
void give_back_block(void* p, std::size_t size) noexcept;

/// For std::allocate_shared and the like: one object at a time.
template <class T>
struct block_allocator {
  using value_type = T;
  block_allocator() = default;
  template <class U>
  block_allocator(const block_allocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t n) { return static_cast<T*>(take_block(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { give_back_block(p, n * sizeof(T)); }
  template <class U>
  bool operator==(const block_allocator<U>&) const noexcept {
    return true;
  }
};

/// An empty string, with the room of one that was given back on this thread, if there is one.
std::string take_string();
/// Keeps its room for the next one, unless it is too small or too large to be worth it. Leaves it empty.
void give_back_string(std::string&& s) noexcept;

}  // namespace idem::memory
