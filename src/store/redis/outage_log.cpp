#include "store/redis/outage_log.hpp"

#include <algorithm>

#include "idem/telemetry/log.hpp"

namespace idem::store::redis {

std::string shown_address(const config::endpoint& server) {
  if (server.is_unix()) return "unix:" + server.unix_path;
  const bool v6 = server.host.find(':') != std::string::npos;
  return (v6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
}

outage_log::outage_log(std::string_view subject, const config::endpoint& server)
    : subject_(subject), server_(shown_address(server)) {}

void outage_log::down(std::string_view reason) {
  const std::lock_guard guard(lock_);
  if (down_++ == 0) {
    said_.clear();
    say(reason);
  }
}

void outage_log::still_down(std::string_view reason) {
  const std::lock_guard guard(lock_);
  if (std::find(said_.begin(), said_.end(), reason) == said_.end()) say(reason);
}

void outage_log::say(std::string_view reason) {
  telemetry::warn(subject_ + " unavailable", {{"address", std::string_view(server_)}, {"reason", reason}});
  said_.emplace_back(reason);
}

void outage_log::up() {
  const std::lock_guard guard(lock_);
  if (down_ > 0 && --down_ == 0)
    telemetry::info(subject_ + " available again", {{"address", std::string_view(server_)}});
}

void outage_log::leave(bool was_down, bool was_refused) {
  const std::lock_guard guard(lock_);
  if (was_down && down_ > 0) --down_;
  if (was_refused && refused_ > 0) --refused_;
}

void outage_log::writes_refused() {
  const std::lock_guard guard(lock_);
  if (refused_++ == 0) telemetry::warn(subject_ + " refuses writes", {{"address", std::string_view(server_)}});
}

void outage_log::writes_accepted() {
  const std::lock_guard guard(lock_);
  if (refused_ > 0 && --refused_ == 0)
    telemetry::info(subject_ + " accepts writes again", {{"address", std::string_view(server_)}});
}

}  // namespace idem::store::redis
