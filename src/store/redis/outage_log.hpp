// One line when the store goes away, one for each further reason why it stays away, and one when it is back, however
// many threads notice. Each names the server.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "idem/config/config.hpp"

namespace idem::store::redis {

/// host:port or unix:/path, with the port that a URL may leave out, and without the user and password that it may hold.
std::string shown_address(const config::endpoint& server);

/// Thread-safe. Counts who is without the store; only the first and the last are logged, and what is new in between.
class outage_log {
 public:
  outage_log(std::string_view subject, const config::endpoint& server);

  void down(std::string_view reason);
  /// Who was counted failed again, perhaps for another reason.
  void still_down(std::string_view reason);
  void up();
  void writes_refused();
  void writes_accepted();
  /// Who was counted ends, without the store being back.
  void leave(bool was_down, bool was_refused);

 private:
  void say(std::string_view reason);

  const std::string subject_, server_;
  std::mutex lock_;
  std::vector<std::string> said_;  ///< reasons of this outage that were logged; they are fixed words, so they are few
  unsigned down_ = 0, refused_ = 0;
};

}  // namespace idem::store::redis
