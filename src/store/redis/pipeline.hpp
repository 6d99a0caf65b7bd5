// Commands in flight on one connection: what was sent, in order, and who waits for each reply. No socket, no clock, no
// callbacks from inside: finished commands are handed to the caller, who may then call back into anything.
#pragma once

#include <boost/circular_buffer.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "idem/store/store.hpp"
#include "store/redis/exchange.hpp"

namespace idem::store::redis {

struct finished {
  completion done;
  reply result;
  std::optional<server_error> fault;
  bool took_write = false;
};

class pipeline {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit pipeline(std::string key_prefix) : key_prefix_(std::move(key_prefix)) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// Takes a command. Before open() it waits; afterwards its bytes stand in the output.
  void submit(const command& c, completion done, time_point deadline);

  /// The connection is ready: whatever waits is written.
  void open(dialect how);

  bool has_output() const { return !output_.empty(); }
  /// Swaps the output into `into` (which must be empty). From now on its commands count as sent.
  void take_output(std::string& into);

  /// The next reply of the server. False if nothing waits for one: the connection cannot be trusted any more.
  bool on_reply(resp_value&& v, std::optional<finished>& out);

  /// Commands that waited unsent past their deadline. `broken` tells that one in flight did: the connection must end.
  std::vector<finished> expire(time_point now, bool& broken);

  /// The connection is gone, or never came: everything ends as unavailable, and the next one starts anew.
  std::vector<finished> shut();

  bool idle() const { return in_flight_.empty() && waiting_.empty(); }
  std::optional<time_point> next_deadline() const;

 private:
  struct entry {
    command c;
    completion done;
    time_point deadline;
    std::optional<exchange> how;
    std::optional<std::uint64_t> begins_at;  ///< position of its first byte among all that this connection was given
  };

  void send(entry&& e);
  void send_waiting();
  finished unavailable(entry&& e) const;

  std::string key_prefix_;
  std::optional<dialect> how_;
  /// Entries are large and come and go with each request: a deque would make a node for each.
  using queue = boost::circular_buffer<entry>;
  static void push(queue& q, entry&& e);

  queue in_flight_, waiting_;
  std::string output_;
  std::uint64_t encoded_ = 0;  ///< bytes that left output_ so far
  bool serial_busy_ = false;
};

}  // namespace idem::store::redis
