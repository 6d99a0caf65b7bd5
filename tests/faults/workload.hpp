// What is asked for in a run, and how the backend takes it: everything follows from the seed and an operation's number.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "faults/history.hpp"
#include "support/scripted_backend.hpp"

namespace idem::test {

using dice = std::mt19937_64;

/// From 0 to n - 1.
inline std::size_t roll(dice& d, std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(d); }
inline std::chrono::milliseconds roll(dice& d, int from_ms, int to_ms) {
  return std::chrono::milliseconds(std::uniform_int_distribution<int>(from_ms, to_ms)(d));
}

/// Routes of the configuration, by their names: `once` answers duplicates 409, `waiting` lets them wait, `again` is
/// at_least_once.
struct workload {
  std::uint64_t seed = 1;
  std::vector<std::string> routes{"once", "waiting", "again"};

  operation operation_of(std::size_t n) const;
};

/// Takes operations as the workload wants, and notes each of them.
class eventful_backend {
 public:
  eventful_backend(const workload& w, recorder& into);

  scripted_backend& server() { return server_; }

 private:
  void serve(const backend_request& r, backend_connection& c);

  const workload& workload_;
  recorder& into_;
  std::mutex mutex_;
  std::map<std::string, std::size_t> deliveries_;
  scripted_backend server_;
};

/// Clients, each on a thread of its own, that send, hang up, retry with backoff, and come back for replays; at times
/// with another's scope or another body.
class clients {
 public:
  clients(const workload& w, std::vector<std::uint16_t> proxies, recorder& into, std::size_t count);
  ~clients();
  clients(const clients&) = delete;
  clients& operator=(const clients&) = delete;

  /// Until their last tries have ended.
  void stop();
  /// Once more for everything that was ever asked for, on every proxy.
  void ask_for_all();

 private:
  void live(std::size_t number);
  void pursue(const operation& o, dice& d);
  http_response try_once(const operation& o, std::uint16_t proxy, std::chrono::milliseconds patience);

  const workload& workload_;
  const std::vector<std::uint16_t> proxies_;
  recorder& into_;
  std::atomic<bool> ended_{false};
  std::atomic<std::size_t> newest_{1};
  std::vector<std::thread> threads_;
};

}  // namespace idem::test
