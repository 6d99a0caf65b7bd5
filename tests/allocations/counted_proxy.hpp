// The real program with its allocations counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "allocations/counter_page.hpp"
#include "support/proxy_process.hpp"
#include "support/temporary_folder.hpp"

namespace idem::test {

/// The page that a process counts in, seen from here.
class allocation_counter {
 public:
  explicit allocation_counter(const std::string& file);
  ~allocation_counter();
  allocation_counter(const allocation_counter&) = delete;
  allocation_counter& operator=(const allocation_counter&) = delete;

  std::uint64_t calls() const { return page_->calls.load(); }
  std::uint64_t bytes() const { return page_->bytes.load(); }
  void trace(bool on) { page_->trace.store(on ? 1 : 0); }

 private:
  counter_page* page_ = nullptr;
};

class counted_proxy {
 public:
  /// @param name of the file that stacks go to, behind that of the environment variable IDEM_ALLOCATION_TRACE
  counted_proxy(proxy_settings settings, const std::string& name);

  proxy_process& proxy() { return *proxy_; }
  allocation_counter& counter() { return counter_; }
  bool traced() const { return traced_; }

 private:
  temporary_folder folder_;
  bool traced_ = false;
  allocation_counter counter_;
  std::optional<proxy_process> proxy_;
};

}  // namespace idem::test
