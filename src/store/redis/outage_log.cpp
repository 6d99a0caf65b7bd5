#include "store/redis/outage_log.hpp"

#include <algorithm>

#include "idem/telemetry/log.hpp"

namespace idem::store::redis {

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
  telemetry::warn(subject_ + " unavailable", {{"reason", reason}});
  said_.emplace_back(reason);
}

void outage_log::up() {
  const std::lock_guard guard(lock_);
  if (down_ > 0 && --down_ == 0) telemetry::info(subject_ + " available again");
}

void outage_log::leave(bool was_down, bool was_refused) {
  const std::lock_guard guard(lock_);
  if (was_down && down_ > 0) --down_;
  if (was_refused && refused_ > 0) --refused_;
}

void outage_log::writes_refused() {
  const std::lock_guard guard(lock_);
  if (refused_++ == 0) telemetry::warn(subject_ + " refuses writes");
}

void outage_log::writes_accepted() {
  const std::lock_guard guard(lock_);
  if (refused_ > 0 && --refused_ == 0) telemetry::info(subject_ + " accepts writes again");
}

}  // namespace idem::store::redis
