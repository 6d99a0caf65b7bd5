// The process' one subscription to the channels that wake waiters.
#pragma once

#include <memory>

#include "idem/store/store.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/session.hpp"

namespace idem::store::redis {

/// Subscribes, again after each loss; the io_context keeps it (keep_with). The listener runs on `io`.
class subscription final : public std::enable_shared_from_this<subscription>, private connection_user {
 public:
  subscription(net::asio::io_context& io, std::shared_ptr<shared_parts> parts, change_listener listener);

  void start() { connection_->open(); }
  /// On any thread. The listener is not called any more once the io_context has run what this posts.
  void stop();

 private:
  void on_ready(dialect how) override;
  bool on_reply(resp_value&& v) override;
  void on_writable() override;
  void on_lost(std::string_view reason) override;

  net::asio::io_context& io_;
  std::shared_ptr<shared_parts> parts_;
  change_listener listener_;
  std::shared_ptr<connection> connection_;
  std::string outgoing_;
  unsigned confirmed_ = 0;
  bool counted_down_ = false;
};

}  // namespace idem::store::redis
