// A TCP relay on loopback that stands between a program and its server, and does what networks do: hold bytes back,
// lose them, cut connections. It runs on a thread of its own; all calls are thread-safe and take effect for the next
// piece of bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace idem::test {

class relay {
 public:
  /// Listens on a free port (see port()) and connects each client to 127.0.0.1:`target_port`.
  explicit relay(std::uint16_t target_port);
  ~relay();
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  std::uint16_t port() const;

  /// Each piece is held for this long, in either direction.
  void delay(std::chrono::milliseconds time);
  /// What the server says is lost; what the client says goes on. Connections stay open.
  void swallow_replies(bool on);
  /// Nothing passes in either direction, and nobody is told. A connection that lost bytes in it is reset when anything
  /// more is said on it afterwards.
  void blackhole(bool on);
  /// New connections are reset at once.
  void refuse(bool on);
  /// Resets every connection that is open, before it returns: what is allowed afterwards cannot reach them.
  void cut();
  /// Passes this many more bytes of the server's, counted over all connections, then closes the one that sent more.
  void cut_after_reply_bytes(std::size_t bytes);

  std::size_t accepted() const;    ///< connections so far
  std::size_t bytes_up() const;    ///< from clients to the server, without what was lost
  std::size_t bytes_down() const;  ///< from the server to clients, without what was lost

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace idem::test
