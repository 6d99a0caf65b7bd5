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
#include "store/redis/completion_group.hpp"
#include "store/redis/exchange.hpp"

namespace idem::store::redis {

struct finished {
  completion done;
  reply result;
  std::optional<server_error> fault;
  bool took_write = false;
};

/// What one reply of the server ends: one command, or those of a group.
using finished_commands = boost::container::static_vector<finished, group_limit>;

class pipeline {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit pipeline(std::string key_prefix) : key_prefix_(std::move(key_prefix)) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// Takes a command. Before open() it waits; afterwards its bytes are part of the next output. Commands on one record
  /// go in their order, others may pass each other; a transaction that waits for another is passed by all but those.
  void submit(const command& c, completion done, time_point deadline);

  /// The connection is ready: whatever waits is part of the next output.
  void open(dialect how);

  bool has_output() const { return !output_.empty() || !gathered_.empty(); }
  /// Swaps the output into `into` (which must be empty). From now on its commands count as sent.
  void take_output(std::string& into);

  /// The next reply of the server, and what it ends. False if nothing waits for one: the connection cannot be trusted
  /// any more.
  bool on_reply(resp_value&& v, finished_commands& out);

  /// Commands that waited unsent past their deadline. `broken` tells that one in flight did: the connection must end.
  std::vector<finished> expire(time_point now, bool& broken);

  /// The connection is gone, or never came: everything ends as unavailable, and the next one starts anew.
  std::vector<finished> shut();

  /// Bytes that this connection was given so far; from nothing again with the next one.
  std::uint64_t given() const { return encoded_; }
  bool idle() const { return in_flight_.empty() && waiting_.empty() && gathered_.empty(); }
  std::optional<time_point> next_deadline() const;

 private:
  struct entry {
    command c;
    completion done;
    time_point deadline;
    std::optional<exchange> how;
    std::optional<std::uint64_t> begins_at;  ///< position of its first byte among all that this connection was given
    std::uint8_t group = 0;                  ///< of the first of a group: how many its reply is for
    bool whole_text = false;                 ///< of the first of a group: its script went as text
  };
  using group = boost::container::static_vector<entry, group_limit>;

  void place(entry&& e);
  void send(entry&& e);
  void send_waiting();
  void send_gathered();
  void send_group(group& g, bool whole_text);
  void on_group_reply(resp_value&& v, finished_commands& out);
  step member_end(entry& e, resp_value* own_reply);
  entry take_front();
  finished unavailable(entry&& e) const;

  std::string key_prefix_;
  std::optional<dialect> how_;
  /// Entries are large and come and go with each request: a deque would make a node for each.
  using queue = boost::circular_buffer<entry>;
  static void push(queue& q, entry&& e);

  queue in_flight_;
  queue waiting_;   ///< for the connection, or for the transaction before them
  group gathered_;  ///< completions since the last output, which go in one call
  std::string output_;
  std::uint64_t encoded_ = 0;  ///< bytes that left output_ so far
  bool serial_busy_ = false;
  bool writes_refused_ = false;  ///< at last: a claim then reads in the same round trip, whatever becomes of its SET
  bool gathers_ = true;          ///< until the server says that it cannot take records together
};

}  // namespace idem::store::redis
