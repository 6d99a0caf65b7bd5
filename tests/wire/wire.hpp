// What the tests of the wire share: a host that plays the backend byte by byte, and the proxy before it. One proxy
// serves all tests of a suite; every test opens connections of its own, and what it leaves open ends with it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "support/eventually.hpp"
#include "support/proxy_process.hpp"
#include "wire/peer.hpp"

namespace idem::test {

using namespace std::chrono_literals;

/// A host and the proxy that forwards to it. `/keyed` is an idempotent route; everything else passes through.
class stage {
 public:
  /// @param server_more and the others as in proxy_settings; one thread, so that connections are reused predictably
  explicit stage(const std::string& server_more = {}, const std::string& upstream_more = {});
  explicit stage(const std::string& server_more, const std::string& upstream_more, const std::string& scheme);

  host backend;
  std::unique_ptr<proxy_process> proxy;
  proxy_settings settings;

  peer client() const { return peer::connect(proxy->port()); }
};

/// One request that has reached the backend, and both ends of its way.
struct way {
  peer client, backend;
  std::string request;  ///< what the backend got
};

class on_stage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { shared_ = std::make_unique<stage>(); }
  static void TearDownTestSuite() { shared_.reset(); }
  void SetUp() override { s().backend.clear(); }

  static stage& s() { return *shared_; }
  static peer client() { return s().client(); }
  /// Sends `request` on a connection of its own and waits until the backend has `size` bytes of what became of it.
  static way reach(std::string_view request, std::size_t size);
  /// The same for a request of which every byte passes as it is.
  static way reach(std::string_view request) { return reach(request, request.size()); }
  /// No connection waits at the backend.
  static ::testing::AssertionResult backend_untouched(peer::limit time = 50ms);

 private:
  static std::unique_ptr<stage> shared_;
};

inline constexpr std::string_view plain_get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
inline constexpr std::string_view plain_ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// One of the proxy's own refusals, whole, after which the connection has ended orderly.
::testing::AssertionResult is_last_problem(const std::string& all, const peer& p, int status, std::string_view code);
/// It begins with the head of such a refusal.
::testing::AssertionResult is_problem(const std::string& all, int status, std::string_view code);

/// Sanitizers change what a process holds and how fast it is.
bool sanitized();

}  // namespace idem::test
