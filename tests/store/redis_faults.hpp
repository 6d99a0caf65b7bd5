// A session on a Redis that a test makes trouble for, directly or through a relay.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "store/store_fixture.hpp"
#include "support/eventually.hpp"

namespace idem::test {

using std::chrono::steady_clock;

inline const std::string mine = owner_text(1, 'a'), value = record_text('P', mine);
inline constexpr milliseconds command_timeout = 300ms, slack = 700ms;

class redis_faults : public testing::Test {
 protected:
  void use(std::uint16_t port, const std::function<void(config::redis_config&)>& change = {}) {
    config::store_config c;
    c.type = config::store_type::redis;
    c.redis = redis_settings(port);
    c.redis.connect_timeout = 500ms;
    c.redis.command_timeout = command_timeout;
    if (change) change(c.redis);
    runner_.reset();
    backend_ = store::make_backend(c);
    runner_ = std::make_unique<session_runner>(*backend_);
  }
  reply run(const command& c) { return runner_->run(c); }
  store::health status() const { return runner_->session().status(); }

  // Runs a command and expects it to end without a usable reply, in time.
  void expect_unavailable(const command& c, bool sent) {
    const auto from = steady_clock::now();
    const auto r = run(c);
    EXPECT_EQ(r.what, verdict::unavailable);
    EXPECT_EQ(r.sent, sent);
    EXPECT_LT(steady_clock::now() - from, command_timeout + slack);
  }
  // What a client's retries do: the store must come back by itself.
  void expect_recovery() {
    const auto name = fresh_name();
    EXPECT_TRUE(eventually([&] { return run(claim(name, value, 60s)).what == verdict::found; }));
    EXPECT_TRUE(status().reachable);
    EXPECT_TRUE(status().writable);
  }

  std::unique_ptr<store::backend> backend_;
  std::unique_ptr<session_runner> runner_;
};

}  // namespace idem::test
