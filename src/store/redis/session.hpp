// A thread's session on Redis: one connection, all commands of a loop turn in one write, replies matched in order. One
// that has nothing to do asks the server something now and then, so that a store that is gone is noticed all the same.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "idem/store/store.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/outage_log.hpp"
#include "store/redis/pipeline.hpp"

namespace idem::store::redis {

/// What all sessions of a store share.
struct shared_parts {
  explicit shared_parts(const config::redis_config& s)
      : settings(s), outages("store", s.address), subscription_outages("store subscription", s.address) {}

  const config::redis_config settings;
  std::shared_ptr<tls_context> tls;
  outage_log outages, subscription_outages;
  /// When a session last found the store ready. What one thread has found out need not be found out by each.
  std::atomic<std::chrono::steady_clock::time_point> last_ready{};
  /// Of any session, see health::last_trouble; its epoch if never.
  std::atomic<net::lease_clock::time_point> last_trouble{};
};

/// Lives as long as a handler of it is queued; the session that the engine holds is only its handle.
class session_core final : public std::enable_shared_from_this<session_core>, private connection_user {
 public:
  session_core(net::asio::io_context& io, std::shared_ptr<shared_parts> parts);

  void start();
  void submit(const command& c, completion done);
  health status() const;
  void close();

 private:
  void on_ready(dialect how) override;
  bool on_reply(resp_value&& v) override;
  void on_writable() override { flush(); }
  void on_lost(std::string_view reason) override;

  void start_over(server_error why);
  void schedule_flush();
  void flush();
  void watch_silence();
  void look_if_silent();
  void watch_deadlines();
  void check_deadlines();
  void observe(const finished& f);
  void troubled();
  void set_reachable(bool on, std::string_view reason);
  void set_writable(bool on);
  static void complete(std::vector<finished>&& all);

  net::asio::io_context& io_;
  std::shared_ptr<shared_parts> parts_;
  std::shared_ptr<connection> connection_;
  pipeline pipeline_;
  std::size_t batch_ = 0;  ///< commands since the last write
  unsigned alone_ = 0;     ///< writes in a row that had one command
  std::string spare_;      // goes round between pipeline and link, so that buffers are used again
  net::timer deadlines_, silence_;
  std::uint64_t given_before_ = 0;
  unsigned silent_looks_ = 0;
  const std::string probed_name_;
  bool deadline_armed_ = false, flush_scheduled_ = false, closed_ = false;
  bool counted_down_ = false, counted_refused_ = false, renewals_refused_ = false;
  health health_;
};

std::unique_ptr<session> make_session(net::asio::io_context& io, std::shared_ptr<shared_parts> parts);

}  // namespace idem::store::redis
