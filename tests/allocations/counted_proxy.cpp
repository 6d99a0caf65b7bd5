#include "allocations/counted_proxy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace idem::test {

allocation_counter::allocation_counter(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, 4096) != 0) throw std::runtime_error("no page for the counter");
  void* at = ::mmap(nullptr, sizeof *page_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) throw std::runtime_error("the counter's page cannot be mapped");
  page_ = static_cast<counter_page*>(at);
}

allocation_counter::~allocation_counter() { ::munmap(page_, sizeof *page_); }

counted_proxy::counted_proxy(proxy_settings settings, const std::string& name)
    : counter_((folder_.path() / "page").string()) {
  const auto variable = [](const std::string& n, const std::string& value) { return n + "='" + value + "' "; };
  std::string line = "#!/bin/sh\nexec env ";
  line += variable("LD_PRELOAD", IDEM_COUNTING_MALLOC);
  line += variable(counter_page::file_variable, (folder_.path() / "page").string());
  if (const char* trace = std::getenv(counter_page::trace_variable); trace != nullptr && *trace != '\0') {
    traced_ = true;
    line += variable(counter_page::trace_variable, std::string(trace) + "." + name);
  }
  // the environment is the proxy's alone: neither the test nor redis-server count
  settings.binary = folder_.write("counted", line + "'" IDEM_BINARY "' \"$@\"\n");
  std::filesystem::permissions(settings.binary, std::filesystem::perms::owner_all);
  proxy_.emplace(std::move(settings));
}

}  // namespace idem::test
