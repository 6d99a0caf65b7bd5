#include "store/redis/link_policy.hpp"

#include <algorithm>

namespace idem::store::redis {

backoff::milliseconds backoff::next(double chance) {
  const auto full = delay_;
  delay_ = std::min(delay_ * 2, last);
  return milliseconds(static_cast<milliseconds::rep>(static_cast<double>(full.count()) * (0.5 + chance / 2)));
}

link_policy::admission link_policy::admit(time_point now, time_point elsewhere) const {
  switch (phase_) {
    case phase::ready: return admission::go;
    case phase::connecting: return admission::wait;
    case phase::closed: return admission::refuse;
    case phase::resting: break;
  }
  const bool probe = !rested_ || now - resting_since_ >= probe_interval || elsewhere > resting_since_;
  return probe ? admission::connect : admission::refuse;
}

void link_policy::denied(time_point now) {
  if (denied_at_ && now - *denied_at_ < denial_interval) useful_ = false;
  denied_at_ = now;
}

link_policy::milliseconds link_policy::lost(time_point now, double chance) {
  const bool was_ready = phase_ == phase::ready;
  phase_ = phase::resting;
  rested_ = true;
  resting_since_ = now;
  if (was_ready && useful_) {
    useful_ = false;
    backoff_.reset();
    return milliseconds(0);
  }
  return backoff_.next(chance);
}

}  // namespace idem::store::redis
