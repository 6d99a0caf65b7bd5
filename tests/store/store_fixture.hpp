// The contract's view of a store: one suite for memory, for Redis, and for a Redis that refuses scripts.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>

#include "idem/store/store.hpp"
#include "support/redis_server.hpp"

namespace idem::test {

using std::chrono::milliseconds;
using store::command;
using store::op;
using store::reply;
using store::verdict;
using namespace std::chrono_literals;

/// A record by hand: the 42-byte prefix, then `tail`.
std::string record_text(char state, const std::string& owner_text, const std::string& tail = " fields\n");
/// `aaaa tttt…`: 37 bytes made of an attempt and one repeated character.
std::string owner_text(unsigned attempt, char token);
/// A fresh record name under the prefix `t:`, with braces; different for each call.
std::string fresh_name();

command claim(const std::string& name, const std::string& value, milliseconds ttl);
command look(const std::string& name);

/// A thread's worth of a store: an io_context and a session on it.
class session_runner {
 public:
  explicit session_runner(store::backend& from) : session_(from.open(io_)) {}
  ~session_runner() { session_->close(); }

  /// Submits and runs the loop until the reply is there.
  reply run(const command& c);
  /// Runs the loop until the session is connected; false if that takes too long.
  bool connect(milliseconds limit = 10s);
  /// Runs the loop for at most this long, or until `until` holds.
  template <class Condition>
  bool run_until(Condition&& until, milliseconds limit = 10s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!until() && std::chrono::steady_clock::now() < end) {
      io_.restart();
      io_.run_one_for(5ms);
    }
    return until();
  }

  store::session& session() { return *session_; }
  boost::asio::io_context& io() { return io_; }

 private:
  boost::asio::io_context io_{1};
  std::unique_ptr<store::session> session_;
};

enum class store_kind { memory, redis, redis_without_scripts };

/// The server of a kind, started when it is asked for first; shared by the tests of a program.
redis_server& server_of(store_kind kind);
config::redis_config redis_settings(std::uint16_t port);
std::unique_ptr<store::backend> make_store(store_kind kind);

class store_contract : public testing::TestWithParam<store_kind> {
 protected:
  store_contract() : backend_(make_store(GetParam())), runner_(std::make_unique<session_runner>(*backend_)) {}
  void SetUp() override { ASSERT_TRUE(runner_->connect()); }

  reply run(const command& c) { return runner_->run(c); }
  /// Makes a record stand there, with any value.
  void place(const std::string& name, const std::string& value, milliseconds ttl);
  bool is_redis() const { return GetParam() != store_kind::memory; }

  std::unique_ptr<store::backend> backend_;
  std::unique_ptr<session_runner> runner_;
};

std::string kind_name(const testing::TestParamInfo<store_kind>& info);

}  // namespace idem::test
