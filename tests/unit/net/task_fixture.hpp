// Coroutines that keep a diary of what is destroyed when.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "idem/net/event.hpp"
#include "idem/net/task.hpp"
#include "idem/net/types.hpp"

namespace idem::net::testing {

using namespace std::chrono_literals;

using diary = std::vector<std::string>;

/// Writes into the diary when it is destroyed: once, wherever it was moved to.
class noted {
 public:
  noted(diary& d, std::string what) : diary_(&d), what_(std::move(what)) {}
  noted(noted&& other) noexcept : diary_(std::exchange(other.diary_, nullptr)), what_(std::move(other.what_)) {}
  noted& operator=(noted&&) = delete;
  ~noted() {
    if (diary_) diary_->push_back(what_);
  }

 private:
  diary* diary_;
  std::string what_;
};

inline const asio::generic::stream_protocol unix_stream(AF_UNIX, 0);

inline std::pair<net::socket, net::socket> unix_pair(asio::io_context& io) {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {net::socket(io, unix_stream, fds[0]), net::socket(io, unix_stream, fds[1])};
}

struct task_test : ::testing::Test {
  /// Runs `t` until nothing is left to do.
  void run(task<void> t) {
    std::exception_ptr e;
    spawn(io->get_executor(), std::move(t), [&](const std::exception_ptr& f) { e = f; });
    io->run_for(5s);
    ASSERT_TRUE(io->stopped()) << "it has not ended";
    if (e) std::rethrow_exception(e);
  }

  diary seen;
  std::optional<asio::io_context> io{std::in_place, 1};
};

inline task<void> waits_for(event& e, [[maybe_unused]] noted local) {
  if (!e.is_set()) co_await e.wait();
}

}  // namespace idem::net::testing
