#include "idem/memory/block_pool.hpp"

#include <string.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <vector>

namespace idem::memory {

namespace {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

/// Set when the thread ends: what ends after its pools goes straight to the heap.
thread_local constinit bool closed = false;

class block_pool {
 public:
  constexpr block_pool() = default;
  ~block_pool() {
    for (auto& l : free_) {
      while (auto* b = l.first) {
        l.first = b->next;
        ::operator delete(b);
      }
    }
    closed = true;
  }

  void* take(std::size_t size) {
    const auto c = class_of(size);
    if (!keeps || c >= classes) return ::operator new(size);
    auto& l = free_[c];
    if (closed || l.first == nullptr) return ::operator new((c + 1) * step);
    auto* b = l.first;
    l.first = b->next;
    --l.count;
    return b;
  }

  void give_back(void* p, std::size_t size) noexcept {
    const auto c = class_of(size);
    if (!keeps || closed || c >= classes || free_[c].count >= kept(c)) {
      ::operator delete(p);
      return;
    }
    free_[c].first = ::new (p) block{free_[c].first};
    ++free_[c].count;
  }

 private:
  static constexpr std::size_t step = 128, classes = 64;
  /// Of each size: as many as make a quarter of a mebibyte, so that a thread keeps 16 MiB at most.
  static constexpr std::uint32_t kept(std::size_t c) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(256, 256 * 1024 / ((c + 1) * step)));
  }

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

thread_local constinit block_pool blocks;

class string_pool {
 public:
  ~string_pool() { closed = true; }

  std::string take() {
    if (closed || free_.empty()) return {};
    std::string s = std::move(free_.back());
    free_.pop_back();
    return s;
  }

  void give_back(std::string&& s) noexcept {
    explicit_bzero(s.data(), s.size());  // what it held last, perhaps credentials, does not outlive its owner
    const bool worth_it = s.capacity() >= smallest && s.capacity() <= largest;
    if (!keeps || closed || !worth_it || free_.size() >= kept) {
      std::string().swap(s);  // an assignment would leave the room with its owner
      return;
    }
    if (free_.capacity() == 0) free_.reserve(kept);
    s.clear();
    free_.push_back(std::move(s));
  }

 private:
  static constexpr std::size_t smallest = 16, largest = 16 * 1024;
  static constexpr std::size_t kept = 512;

  std::vector<std::string> free_;
};

string_pool& strings() {
  static thread_local string_pool pool;
  return pool;
}

}  // namespace

void* take_block(std::size_t size) { return blocks.take(size); }
void give_back_block(void* p, std::size_t size) noexcept { blocks.give_back(p, size); }

std::string take_string() { return strings().take(); }
void give_back_string(std::string&& s) noexcept { strings().give_back(std::move(s)); }

}  // namespace idem::memory
