// Expectations of fuzz targets: one that does not hold ends the process, which is what libFuzzer reports.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace idem::fuzz {

inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Bytes in a heap block of exactly their size, so that AddressSanitizer sees a read beyond their end.
class exact_copy {
 public:
  explicit exact_copy(std::string_view bytes) : data_(new char[bytes.size()]), size_(bytes.size()) {
    if (size_ != 0) std::memcpy(data_.get(), bytes.data(), size_);
  }
  std::string_view view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_;
};

}  // namespace idem::fuzz
