// What happened in a run: everything that clients saw, that the backend did, and that stood in the store. Plain data;
// checker.hpp judges it (docs/protocol.md, "Invariants that tests check on histories").
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/http_client.hpp"

namespace idem::test {

using moment = std::chrono::steady_clock::time_point;

/// What a client wants to be done once.
struct operation {
  bool at_most_once = true;
  std::string route, scope, key, body;

  /// What one record stands for: the body is not part of it.
  std::string identity() const { return route + "/" + scope + "/" + key; }
  friend bool operator==(const operation&, const operation&) = default;
};

/// An answer without its framing, which the proxy may change.
struct plain_answer {
  int status = 0;
  std::string reason;
  field_lines lines;
  std::string body;

  friend bool operator==(const plain_answer&, const plain_answer&) = default;
};

enum class outcome {
  kept,      ///< a whole answer that has to be stored and replayed
  released,  ///< a whole answer that leaves the key free
  broken     ///< the backend did it, and its answer never came or was cut
};

/// One request that reached the backend.
struct execution {
  std::size_t id = 0;  ///< from 1; the answer's X-Execution
  operation what;      ///< as the backend read it
  std::size_t attempt = 0;
  moment at;
  outcome end = outcome::kept;
  plain_answer answer;
};

/// One try of a client.
struct attempt {
  std::size_t id = 0;  ///< from 1; the request's X-Try
  operation what;
  moment sent, ended;
  http_response answer;
};

/// A record's first 42 bytes changed between two looks at the store; empty: the record is gone.
struct sighting {
  moment at;
  std::string name, prefix;
};

/// A record as it stood in the store.
struct stored_record {
  std::string name;
  char state = '?';
  std::int64_t hold_ms = 0, ttl_ms = 0;
  plain_answer answer;  ///< of S and F

  bool alive() const { return state == 'P' && ttl_ms > hold_ms; }
};

/// A time in which the store took nothing.
struct store_window {
  moment from, to;
  bool reads_work = false;
};

struct history {
  std::vector<execution> executions;
  std::vector<attempt> attempts;
  std::vector<sighting> sightings;
  std::vector<store_window> store_gone;
  std::vector<stored_record> after_owners_died;  ///< a lease after every proxy was killed
  std::vector<stored_record> at_the_end;         ///< with living proxies that have nothing in flight
  std::vector<std::string> logs;                 ///< of the proxies, and of what was done to them; not judged
};

/// The name in X-Execution of an answer; 0 if it is not the application's.
std::size_t execution_of(const field_lines& lines);
/// An answer as the client got it, without framing and the proxy's marks.
plain_answer plain(const http_response& answer);
/// What Idempotency-Status says, in the head or the trailers; empty without one.
std::string mark_of(const http_response& answer);
bool is_replay(const http_response& answer);

/// Collects a history; every call may come from any thread.
class recorder {
 public:
  std::size_t new_attempt();
  void add(attempt a);
  /// Gives the execution its number; `finish` fills in its end and answer by that number before anything is sent.
  template <class Finish>
  execution add(execution e, Finish&& finish) {
    const std::lock_guard lock(mutex_);
    e.id = history_.executions.size() + 1;
    finish(e);
    history_.executions.push_back(e);
    return e;
  }
  void add(sighting s);
  void add(store_window w);
  void set_after_owners_died(std::vector<stored_record> all);
  void set_at_the_end(std::vector<stored_record> all);
  /// All that was added so far.
  history snapshot() const;

 private:
  mutable std::mutex mutex_;
  std::size_t attempts_ = 0;
  history history_;
};

/// Everything about one identity, a line each, in order of time.
std::string story_of(const history& h, const std::string& identity);
/// How often what was answered, for the log of a run.
std::string summary_of(const history& h);

}  // namespace idem::test
