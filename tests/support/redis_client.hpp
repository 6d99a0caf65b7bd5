// A blocking Redis client for tests: looks at what the code under test did, and changes what it will find.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace idem::test {

struct redis_value {
  char type = '_';  ///< '+' status, '-' error, ':' integer, '$' text, '*' array, '_' nil (also: no connection)
  std::string text;
  std::int64_t integer = 0;
  std::vector<redis_value> items;
};

class redis_client {
 public:
  /// Connects to 127.0.0.1; connected() tells whether that went well.
  explicit redis_client(std::uint16_t port);
  ~redis_client();
  redis_client(const redis_client&) = delete;
  redis_client& operator=(const redis_client&) = delete;

  bool connected() const { return fd_ >= 0; }
  /// Sends a command and reads its reply, for at most ten seconds. A nil without a connection.
  redis_value command(const std::vector<std::string>& arguments);
  /// Reads one more reply: messages of subscriptions.
  redis_value read();

 private:
  bool fill();
  std::string line();
  void end();

  int fd_ = -1;
  std::string buffer_;
};

}  // namespace idem::test
