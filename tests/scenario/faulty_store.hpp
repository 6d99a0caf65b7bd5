// Scenarios in which Redis is slow, loses replies, or goes away.
#pragma once

#include <string>

#include "scenario/scenario.hpp"
#include "support/relay.hpp"

namespace idem::test {

/// A proxy whose Redis stands behind a relay.
class a_faulty_store : public on_redis {
 protected:
  void start_behind_relay(const std::string& policy, const std::string& redis_more) {
    auto s = settings(policy);
    s.server_more = "threads: 1";  // one connection to the store, so that it is gone or back for everybody at once
    s.redis_port = wire.port();
    s.redis_more = redis_more;
    start(s);
  }

  relay wire{shared_redis().port()};
};

}  // namespace idem::test
