// Preloaded into the program under test: counts what it allocates, in a page that it shares with the test, and writes
// the stacks of allocations while it is told to. operator new comes here, too, since the standard library's calls
// malloc.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "allocations/counter_page.hpp"

// glibc's own names of what is replaced here; to look them up would allocate
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

idem::test::counter_page* page = nullptr;
int trace_file = -1;
__attribute__((tls_model("initial-exec"))) thread_local bool inside = false;

/// `SIZE MODULE+0xOFFSET …`, innermost first. The offsets are of return addresses.
void write_stack(std::size_t size) {
  constexpr int most = 40;
  void* frames[most];
  char line[most * 160];
  const int count = backtrace(frames, most);
  int end = std::snprintf(line, sizeof line, "%zu", size);
  for (int i = 0; i < count && end < static_cast<int>(sizeof line) - 200; ++i) {
    Dl_info module;
    if (dladdr(frames[i], &module) == 0) continue;
    const auto offset = static_cast<char*>(frames[i]) - static_cast<char*>(module.dli_fbase);
    end += std::snprintf(line + end, 190, " %.150s+0x%zx", module.dli_fname, static_cast<std::size_t>(offset));
  }
  line[end++] = '\n';
  [[maybe_unused]] const auto written = write(trace_file, line, static_cast<std::size_t>(end));
}

void count(std::size_t size) {
  if (page == nullptr || inside) return;
  page->calls.fetch_add(1, std::memory_order_relaxed);
  page->bytes.fetch_add(size, std::memory_order_relaxed);
  if (trace_file < 0 || page->trace.load(std::memory_order_relaxed) == 0) return;
  inside = true;
  const int error = errno;
  write_stack(size);
  errno = error;
  inside = false;
}

__attribute__((constructor)) void attach() {
  const char* path = std::getenv(idem::test::counter_page::file_variable);
  if (path == nullptr) return;
  if (const char* trace = std::getenv(idem::test::counter_page::trace_variable)) {
    trace_file = open(trace, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    void* frame = nullptr;
    backtrace(&frame, 1);  // loads the unwinder, which allocates
  }
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* at = mmap(nullptr, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at != MAP_FAILED) page = static_cast<idem::test::counter_page*>(at);
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  count(size);
  return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
  count(number * size);
  return __libc_calloc(number, size);
}

void* realloc(void* old, std::size_t size) {
  count(size);
  return __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  count(size);
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
}
