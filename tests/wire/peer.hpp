// One end of a stream, byte by byte: the client of the proxy, or its backend. Nothing is added, repaired or understood.
// Blocking, with a limit on everything. Not for use by two threads at once, except that one may send while another
// reads on a plain stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;

namespace idem::test {

/// Settings of TLS for both sides; empty paths are left out.
struct tls_settings {
  std::string ca;                ///< the peer is verified by it
  std::string certificate, key;  ///< what is shown to the peer
  std::string server_name;       ///< a client asks for it and verifies it
  std::string protocol;          ///< ALPN, one name
  int most = 0;                  ///< the highest version, e.g. TLS1_1_VERSION; 0: whatever there is
};

class peer {
 public:
  using limit = std::chrono::milliseconds;
  static constexpr limit usual{5'000};

  peer() = default;
  explicit peer(int fd) : fd_(fd) {}
  ~peer();
  peer(peer&& other) noexcept;
  peer& operator=(peer&& other) noexcept;

  static peer connect(std::uint16_t port);
  /// @param address of loopback, "127.0.0.2" or "::1"
  static peer connect(const std::string& address, std::uint16_t port);
  static peer connect_unix(const std::string& path);

  bool open() const { return fd_ >= 0; }
  /// A smaller receive buffer, so that a reader that waits is felt soon. Before anything is read.
  void small_window();

  /// A TLS handshake from here on. False with tls_fault() if it fails.
  bool begin_tls(const tls_settings& s, bool as_server);
  void end_tls();  ///< sends close_notify
  const std::string& tls_fault() const { return tls_fault_; }
  std::string tls_version() const;
  std::string tls_protocol() const;    ///< by ALPN
  std::string tls_asked_name() const;  ///< which of a server's names its client has meant
  std::string tls_peer_name() const;   ///< the common name of the peer's certificate

  bool send(std::string_view bytes);
  bool send_byte_by_byte(std::string_view bytes);
  /// While it is on the kernel keeps what is sent; then all of it leaves at once.
  void hold_back(bool on);
  void half_close();
  void reset();
  void close();

  /// `size` bytes, or fewer if the stream ends or time passes before.
  std::string read(std::size_t size, limit time = usual);
  /// Everything up to and with `text`; whatever there is if it does not come.
  std::string read_until(std::string_view text, limit time = usual);
  std::string read_head(limit time = usual) { return read_until("\r\n\r\n", time); }
  /// Everything until the other side ends the stream, for `time` at most. See ended().
  std::string rest(limit time = usual);
  /// Reads and forgets up to `size` bytes; how many there were.
  std::size_t discard(std::size_t size, limit time = usual);
  /// Waits until bytes have come and no more do, since nobody reads them: whoever sends them is blocked.
  bool swells(limit time = usual) const;
  /// What is there after `time` of waiting, without ending earlier than the stream does.
  std::string within(limit time);

  enum class end { none, clean, reset };
  end ended() const { return end_; }

 private:
  using when = std::chrono::steady_clock::time_point;
  bool fill(when until);
  std::string take(std::size_t size);

  int fd_ = -1;
  end end_ = end::none;
  std::string in_;
  ssl_ctx_st* context_ = nullptr;
  ssl_st* tls_ = nullptr;
  std::string tls_fault_;
};

/// A listener on loopback that hands out its connections one by one.
class host {
 public:
  host();
  explicit host(const std::string& unix_path);
  /// On an address of loopback, "127.0.0.2" or "::1"; port 0: one that the kernel chooses. Not listening() if there is
  /// no such address here.
  host(const std::string& address, std::uint16_t port);
  ~host();
  host(const host&) = delete;
  host& operator=(const host&) = delete;

  bool listening() const { return fd_ >= 0; }
  std::uint16_t port() const { return port_; }
  std::string url() const;
  /// The next connection; one that is not open() if none comes within `time`.
  peer accept(peer::limit time = peer::usual);
  /// How many may wait to be accepted, and one more.
  void backlog(int size);
  /// Drops what waits to be accepted.
  void clear();

 private:
  int fd_ = -1;
  std::uint16_t port_ = 0;
  std::string address_, path_;
};

}  // namespace idem::test
