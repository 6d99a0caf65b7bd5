// A server on a thread of its own and the crude client of these tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "idem/admin/admin.hpp"
#include "support/loopback.hpp"

namespace idem::admin {

inline config::endpoint tcp(const std::string& host, std::uint16_t port) {
  config::endpoint e;
  e.host = host;
  e.port = port;
  e.text = host + ":" + std::to_string(port);
  return e;
}

inline config::endpoint unix_socket(const std::string& path) {
  config::endpoint e;
  e.unix_path = path;
  e.text = "unix:" + path;
  return e;
}

/// A blocking socket; every wait ends after 10 s at the latest.
class client {
 public:
  explicit client(std::uint16_t port, std::uint32_t address = INADDR_LOOPBACK) : fd_(test::connect_to(port, address)) {
    limit();
  }
  explicit client(const std::string& path) : fd_(test::connect_to(path)) { limit(); }
  ~client() { ::close(fd_); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  bool connected() const { return fd_ >= 0; }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// All until the server closes. `clean` is false after a reset or 10 s.
  std::string read_all() {
    std::string text;
    char buffer[4096];
    for (;;) {
      const auto n = ::recv(fd_, buffer, sizeof buffer, 0);
      clean = n == 0;
      if (n <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(n));
    }
  }
  std::string ask(std::string_view bytes) {
    send(bytes);
    return read_all();
  }

  bool clean = false;

 private:
  void limit() const {
    const timeval time{10, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  }

  const int fd_;
};

class running_server {
 public:
  explicit running_server(const config::endpoint& address = tcp("127.0.0.1", 0))
      : server(io, address,
               {[this] { return state(); }, [] { return std::string("# nothing\n"); }, [this] { ++drains; }}) {}
  ~running_server() {
    io.stop();
    if (thread_.joinable()) thread_.join();
  }

  bool start() {
    const auto ec = server.listen(message);
    if (ec) return false;
    server.start();
    thread_ = std::thread([this] { io.run(); });
    return true;
  }
  std::uint16_t port() const { return server.port(); }
  void close() {
    std::promise<void> closed;
    net::asio::post(io, [&] {
      server.close();
      closed.set_value();
    });
    closed.get_future().wait();
  }
  void set(readiness r) {
    std::lock_guard lock(mutex_);
    state_ = r;
  }
  std::string get(const std::string& path) {
    return client(port()).ask("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  net::asio::io_context io{1};
  admin_server server;
  std::string message;
  std::atomic<int> drains{0};

 private:
  readiness state() {
    std::lock_guard lock(mutex_);
    return state_;
  }

  std::thread thread_;
  std::mutex mutex_;
  readiness state_{true, false, true, false};
};

inline std::string status_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }
inline std::string body_of(const std::string& answer) {
  const auto at = answer.find("\r\n\r\n");
  return at == std::string::npos ? "" : answer.substr(at + 4);
}

}  // namespace idem::admin
