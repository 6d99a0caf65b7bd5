// A connection to Redis that comes back: link, handshake and reply reader, and the policy of when to try again.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "idem/config/config.hpp"
#include "idem/net/types.hpp"
#include "store/redis/handshake.hpp"
#include "store/redis/link.hpp"
#include "store/redis/link_policy.hpp"
#include "store/redis/resp_reader.hpp"

namespace idem::store::redis {

/// Told on the thread of the io_context; may call the connection back, also drop() and close().
class connection_user {
 public:
  virtual void on_ready(dialect how) = 0;
  /// False: nothing waits for this reply; the connection is dropped.
  virtual bool on_reply(resp_value&& v) = 0;
  /// The last write is through: there is room for the next.
  virtual void on_writable() = 0;
  /// A ready connection ended, or a try to make one failed.
  virtual void on_lost(std::string_view reason) = 0;

 protected:
  ~connection_user() = default;
};

class connection final : public std::enable_shared_from_this<connection>, private link_user {
 public:
  enum class purpose : std::uint8_t { commands, listening };

  /// @param settings, user must outlive the connection or its close()
  connection(net::asio::io_context& io, const config::redis_config& settings, std::shared_ptr<tls_context> tls,
             purpose what_for, connection_user& user);

  /// Connects, and from then on again whenever the connection was lost.
  void open();

  /// What a command may expect now. Connects when a real command is due to probe a store that was gone.
  link_policy::admission admit(std::chrono::steady_clock::time_point now,
                               std::chrono::steady_clock::time_point elsewhere = {});

  bool ready() const { return policy_.where() == link_policy::phase::ready; }
  bool writable() const { return ready() && !link_->writing(); }
  /// Sends `bytes` and leaves an empty string in it. Only while writable().
  void write(std::string& bytes) { link_->write(bytes); }
  /// A reply was of use.
  void proved() { policy_.proved(); }
  /// Ends what cannot be trusted any more; on_lost() follows before this returns.
  void drop(std::string_view reason);
  /// The same, since the server denied what is needed of it.
  void drop_denied(std::string_view reason);
  /// Ends for good; the user hears nothing more.
  void close();

 private:
  void on_open() override;
  void on_bytes(std::string_view bytes) override;
  void on_written() override;
  void on_closed(std::string_view reason) override;

  void connect();
  bool handle(resp_value&& v);
  void say();
  void lost(std::string_view reason);
  void after(std::chrono::milliseconds delay, void (connection::*what)());
  void stop_timer();
  void give_up() { drop("no connection in time"); }
  double chance();

  net::asio::io_context& io_;
  const config::redis_config& settings_;
  std::shared_ptr<tls_context> tls_;
  purpose purpose_;
  connection_user* user_;
  link_policy policy_;
  net::timer timer_;  // either the limit of a try, or the rest between two
  std::uint64_t turn_ = 0;
  std::shared_ptr<link> link_;
  std::unique_ptr<resp_reader> reader_;
  resp_value reply_;  ///< the one that is being handled
  std::unique_ptr<handshake> handshake_;
  std::string unsaid_;  ///< of the handshake
  std::minstd_rand random_;
};

}  // namespace idem::store::redis
