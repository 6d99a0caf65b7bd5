// What the counting library and its reader share: one page of a file that both have mapped.
#pragma once

#include <atomic>
#include <cstdint>

namespace idem::test {

struct counter_page {
  static constexpr const char* file_variable = "IDEM_ALLOCATION_PAGE";    ///< path of the file, made by the reader
  static constexpr const char* trace_variable = "IDEM_ALLOCATION_TRACE";  ///< path to write stacks to; may be missing

  std::atomic<std::uint64_t> calls;  ///< malloc, calloc, realloc and their relatives, of all threads
  std::atomic<std::uint64_t> bytes;  ///< that were asked for
  std::atomic<std::uint32_t> trace;  ///< not 0: the stack of each call is written
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(counter_page) <= 4096);

}  // namespace idem::test
