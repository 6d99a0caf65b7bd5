// A store that is written in the test, and a worker on it: it answers each command as the test says, at once or when it
// is told to.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "idem/net/lease_clock.hpp"
#include "idem/store/store.hpp"
#include "proxy/aftermath.hpp"
#include "proxy/waiters.hpp"

namespace idem::proxy::testing {

using idempotency::op;
using idempotency::reply;
using idempotency::verdict;
using net::lease_clock;

struct command_seen {
  op what;
  std::string expect;
  lease_clock::time_point at;
  std::string value;
  bool blind;
};

struct written_store {
  std::function<reply(const command_seen&)> answer;
  std::vector<command_seen> seen;
  bool holds_back = false;  ///< replies wait for answer_next()
  std::vector<std::function<void()>> held;

  void answer_next() {
    auto next = std::move(held.front());
    held.erase(held.begin());
    next();
  }
};

class written_session final : public store::session {
 public:
  explicit written_session(written_store& to) : to_(to) {}
  void submit(const store::command& c, store::completion done) override {
    to_.seen.push_back({c.what, std::string(c.expect), lease_clock::now(), std::string(c.value), c.blind});
    auto reply_to = [this, asked = to_.seen.back(), d = std::make_shared<store::completion>(std::move(done))] {
      (*d)(to_.answer(asked));
    };
    if (!to_.holds_back) return reply_to();
    to_.held.emplace_back(std::move(reply_to));
  }
  store::health status() const override { return {true, true, {}, false}; }
  void close() override {}

 private:
  written_store& to_;
};

class written_backend final : public store::backend {
 public:
  explicit written_backend(written_store& to) : to_(to) {}
  std::string verify() override { return {}; }
  std::unique_ptr<store::session> open(net::asio::io_context&) override {
    return std::make_unique<written_session>(to_);
  }
  void subscribe(net::asio::io_context&, store::change_listener) override {}
  std::string_view kind() const override { return "written"; }

 private:
  written_store& to_;
};

inline reply silence() {
  reply r;
  r.sent = true;
  return r;
}
inline reply done() {
  reply r;
  r.what = verdict::done;
  return r;
}

/// A worker on such a store, whose loop runs only when the test lets it.
class on_a_worker : public ::testing::Test {
 protected:
  written_store records_;
  written_backend backend_{records_};
  proxy::shared_state shared_;
  telemetry::registry metrics_{1};
  proxy::waiter_counts counts_;
  proxy::worker worker_{0, shared_, backend_, metrics_, counts_};
};

}  // namespace idem::proxy::testing
