// A real redis-server for a test: on a free loopback port, in a temporary folder, without persistence unless asked
// for, ended by its pid.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/redis_client.hpp"
#include "support/temporary_folder.hpp"

namespace idem::test {

class redis_server {
 public:
  /// Starts it and waits until it answers; throws if it does not.
  /// @param options more command line, e.g. {"--appendonly", "yes"} or {"--rename-command", "EVAL", ""}
  explicit redis_server(std::vector<std::string> options = {});

  std::uint16_t port() const { return port_; }
  std::string unix_path() const { return (folder_.path() / "redis.sock").string(); }
  const temporary_folder& folder() const { return folder_; }
  pid_t pid() const { return process_.pid(); }

  /// One command on a connection of its own.
  redis_value command(const std::vector<std::string>& arguments) const;
  /// Calls of a command since the start or CONFIG RESETSTAT, by `INFO commandstats`; name in lower case.
  std::int64_t calls(const std::string& name) const;

  void pause() const;   ///< SIGSTOP
  void resume() const;  ///< SIGCONT
  void kill();          ///< SIGKILL, as a crash
  void stop();          ///< SIGTERM, as an orderly end
  /// After kill() or stop(): again, on the same port and folder. With append-only files its records are back.
  void start();

 private:
  bool try_start();

  temporary_folder folder_;
  std::vector<std::string> options_;
  std::uint16_t port_ = 0;
  child_process process_;
};

/// A loopback port that was free a moment ago.
std::uint16_t free_port();

}  // namespace idem::test
