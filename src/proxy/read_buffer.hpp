// The bytes that a connection has read and nobody has used yet. Views into it stay valid until the next room() call.
#pragma once

#include <boost/asio/buffer.hpp>

#include <cstring>
#include <memory>
#include <string_view>

#include "idem/net/buffer_pool.hpp"

namespace idem::proxy {

class read_buffer {
 public:
  explicit read_buffer(net::buffer_pool& pool) : pool_(pool) {}

  std::string_view view() const { return {data_ + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  void consume(std::size_t n) { begin_ += n; }

  /// Where the next bytes go. With nothing unused the whole buffer is free again; a connection that waits for the first
  /// byte of a message (`resting`) gets a small place of its own instead of a pooled buffer.
  boost::asio::mutable_buffer room(bool resting = false) {
    if (empty()) begin_ = end_ = 0;
    if (!data_) {
      if (resting) {
        if (!rest_) rest_ = std::make_unique<char[]>(rest_size);
        return {rest_.get(), rest_size};
      }
      take_pooled();
    }
    if (end_ == capacity_ && begin_ > 0) {
      std::memmove(data_, data_ + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    return {data_ + end_, capacity_ - end_};
  }
  void commit(std::size_t n) {
    if (!data_) {
      take_pooled();
      std::memcpy(data_, rest_.get(), n);
    }
    end_ += n;
  }
  bool full() const { return data_ && begin_ == 0 && end_ == capacity_; }

  /// For a head that is larger than a pooled buffer: bytes move into one of `capacity`.
  void grow(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto larger = std::unique_ptr<char[]>(new char[capacity]);
    std::memcpy(larger.get(), data_ + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    large_ = std::move(larger);
    pooled_.reset();
    data_ = large_.get();
    capacity_ = capacity;
  }

  /// Gives the buffer back when nothing is left in it.
  void release_if_empty() {
    if (!empty()) return;
    pooled_.reset();
    large_.reset();
    data_ = nullptr;
    capacity_ = begin_ = end_ = 0;
  }

  /// Replaces what is left, e.g. by bytes of the next message that were read elsewhere.
  void assign(std::string_view bytes) {
    begin_ = end_ = 0;
    if (bytes.empty()) return;
    if (!data_) take_pooled();
    if (bytes.size() > capacity_) grow(bytes.size());
    std::memcpy(data_, bytes.data(), bytes.size());
    end_ = bytes.size();
  }

 private:
  static constexpr std::size_t rest_size = 1024;

  void take_pooled() {
    pooled_ = pool_.take();
    data_ = pooled_.get();
    capacity_ = net::buffer_pool::size;
  }

  net::buffer_pool& pool_;
  std::unique_ptr<char[]> rest_;
  net::buffer_pool::buffer pooled_;
  std::unique_ptr<char[]> large_;
  char* data_ = nullptr;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace idem::proxy
