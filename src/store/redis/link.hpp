// One connection's bytes: resolves, connects (TCP, unix socket, TLS), reads and writes. It knows nothing of Redis.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/net/edge_socket.hpp"
#include "idem/net/name_lookup.hpp"
#include "idem/net/tls.hpp"
#include "idem/net/types.hpp"

namespace idem::store::redis {

/// Shared by all connections of a store: made once, only read afterwards.
struct tls_context {
  net::asio::ssl::context context{net::asio::ssl::context::tls_client};
  std::string fault;  ///< why it cannot be used, or empty
};
std::shared_ptr<tls_context> make_tls_context(const config::redis_config& settings);

/// Told what happens, on the thread of the io_context. Any of these may detach or destroy the link's owner.
class link_user {
 public:
  virtual void on_open() = 0;
  virtual void on_bytes(std::string_view bytes) = 0;
  virtual void on_written() = 0;
  /// Last call. @param reason for the log
  virtual void on_closed(std::string_view reason) = 0;

 protected:
  ~link_user() = default;
};

class link : public std::enable_shared_from_this<link> {
 public:
  /// @param settings must outlive the link
  link(net::asio::io_context& io, const config::redis_config& settings, std::shared_ptr<tls_context> tls,
       link_user& user);

  void start();
  bool writing() const { return writing_; }
  /// Writes all of `bytes` and leaves an empty string in it: at once if the kernel takes it, else on_written() follows.
  /// Not while writing().
  void write(std::string& bytes);
  /// Ends the connection; the user hears nothing more.
  void detach();

 private:
  net::task<void> run();
  net::task<net::error_code> connect();
  net::task<net::error_code> look_up(net::name_lookup::addresses& found);
  net::task<net::error_code> connect_to(net::asio::generic::stream_protocol::endpoint where);
  net::task<net::error_code> connect_within(net::asio::generic::stream_protocol::endpoint where,
                                            std::chrono::nanoseconds share);
  net::task<net::error_code> secure();
  net::task<void> read();
  bool write_now(std::string& bytes);
  void end_after_failed_write();
  void closed(std::string_view reason);

  net::asio::io_context& io_;
  const config::redis_config& settings_;
  std::shared_ptr<tls_context> tls_;
  link_user* user_;
  net::edge_socket socket_;
  std::optional<net::tls_stream> secure_;
  net::name_lookup lookup_;
  net::timer looked_up_;  ///< never expires
  net::timer share_;      ///< of one of several addresses, of the time to connect
  std::uint64_t turn_ = 0;
  std::string outgoing_;
  bool writing_ = false;
  std::vector<char> incoming_;
};

}  // namespace idem::store::redis
