// Read buffers of one thread: 16 KiB, uninitialised, kept in a free list. A buffer belongs to whoever waits for bytes
// of a message; a connection between two requests holds none. Must outlive its buffers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace idem::net {

class buffer_pool {
 public:
  static constexpr std::size_t size = 16 * 1024;  ///< bytes of a buffer
  static constexpr std::size_t kept = 256;        ///< most buffers in the list

  struct give_back {
    buffer_pool* pool = nullptr;
    void operator()(char* p) const { pool->put(p); }
  };
  using buffer = std::unique_ptr<char[], give_back>;

  buffer_pool() { free_.reserve(kept); }
  ~buffer_pool() {
    for (char* p : free_) ::operator delete(p);
  }
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;

  buffer take() {
    if (free_.empty()) return buffer(static_cast<char*>(::operator new(size)), give_back{this});
    char* p = free_.back();
    free_.pop_back();
    return buffer(p, give_back{this});
  }

 private:
  void put(char* p) {
    if (free_.size() < kept) {
      free_.push_back(p);
    } else {
      ::operator delete(p);
    }
  }
  std::vector<char*> free_;
};

}  // namespace idem::net
