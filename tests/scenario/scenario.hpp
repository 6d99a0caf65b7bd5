// What the scenarios share: a proxy before a scripted backend, over each store, and sentences about answers.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "support/eventually.hpp"
#include "support/proxy_process.hpp"
#include "support/redis_server.hpp"
#include "support/scripted_backend.hpp"

namespace idem::test {

using namespace std::chrono_literals;

enum class store { memory, redis };

/// The Redis of all scenarios, emptied by each fixture. Scenarios that stop or overload a Redis start one of their own.
redis_server& shared_redis();

/// A backend, and proxies before it. Scenarios that hold for every store derive from on_every_store.
class scenario : public ::testing::Test {
 protected:
  explicit scenario(store kind = store::memory) : kind_(kind) {}
  void SetUp() override;
  /// No byte that broke HTTP/1.1 may have reached the backend.
  void TearDown() override;

  /// Settings with one route that matches everything, named `api`, whose idempotency block is `policy` (flow style).
  proxy_settings settings(const std::string& policy = {}) const;
  /// The proxy `proxy`, started with those settings.
  void start(const std::string& policy = {});
  void start(const proxy_settings& s);

  /// The letter of the only record, '-' if there is none; on Redis only.
  char record_state() const;
  bool record_becomes(char state, std::chrono::milliseconds time = 10s) const;
  /// The name of the only record.
  std::string record_name() const;

  http_response post(const std::string& key, const std::string& body = "{\"amount\":1}") const;

  const store kind_;
  scripted_backend backend;
  std::unique_ptr<proxy_process> proxy;
};

class on_redis : public scenario {
 protected:
  on_redis() : scenario(store::redis) {}
};

class on_every_store : public scenario, public ::testing::WithParamInterface<store> {
 protected:
  on_every_store() : scenario(GetParam()) {}
};

inline std::string store_name(const ::testing::TestParamInfo<store>& p) {
  return p.param == store::memory ? "memory" : "redis";
}

/// Every suite that derives from on_every_store says this once.
#define RUNS_ON_EVERY_STORE(suite)                                                                                   \
  INSTANTIATE_TEST_SUITE_P(store, suite, ::testing::Values(::idem::test::store::memory, ::idem::test::store::redis), \
                           ::idem::test::store_name)

/// POST /v1/charges with a JSON body; without a key if it is empty.
http_request charge(const std::string& key, const std::string& body = "{\"amount\":1}");

std::future<http_response> in_background(std::function<http_response()> what);

/// The application's own answer, whole and unmarked.
::testing::AssertionResult is_fresh(const http_response& r, int status);
/// The stored answer: equal to the first one but for the mark and the framing.
::testing::AssertionResult is_replay(const http_response& r, const http_response& first);
/// One of the proxy's own refusals: status, code in header and body, media type.
::testing::AssertionResult is_problem(const http_response& r, int status, const std::string& code);

/// `"retryable":true` and the like, in a problem's body.
bool says(const http_response& problem, const std::string& member, bool value);

}  // namespace idem::test
