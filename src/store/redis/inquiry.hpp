// Asking a server something outside of what serves: synchronously, on a connection and a loop of their own.
#pragma once

#include <string>
#include <vector>

#include "store/redis/connection.hpp"
#include "store/redis/session.hpp"

namespace idem::store::redis {

class inquiry final : private connection_user {
 public:
  /// Connects when it is asked for the first time. A server that may evict records is asked all the same: nothing is
  /// claimed here.
  explicit inquiry(const shared_parts& parts);
  ~inquiry();
  inquiry(const inquiry&) = delete;
  inquiry& operator=(const inquiry&) = delete;

  /// Sends `commands` and waits until so many replies have come, for at most the connect and the command timeout.
  /// Nothing if they did not: reason() says why then, and nothing more can be asked.
  std::vector<resp_value> ask(std::string commands, std::size_t replies);

  const std::string& reason() const { return reason_; }
  /// How the server is spoken to, once it has answered.
  dialect how() const { return how_; }

 private:
  void on_ready(dialect how) override;
  bool on_reply(resp_value&& v) override;
  void on_writable() override;
  void on_lost(std::string_view why) override;

  const config::redis_config settings_;
  net::asio::io_context io_{1};
  std::shared_ptr<connection> connection_;
  std::string outgoing_, reason_;
  std::vector<resp_value> replies_;
  std::size_t expected_ = 0;
  dialect how_ = dialect::scripts;
  bool opened_ = false, lost_ = false;
};

}  // namespace idem::store::redis
