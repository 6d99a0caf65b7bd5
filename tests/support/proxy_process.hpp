// The real program under test: configured, started, watched and ended. It runs on loopback ports that were free a
// moment ago, in a temporary folder of its own; it ends with the object at the latest, and with the test program.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/child_process.hpp"
#include "support/http_client.hpp"
#include "support/temporary_folder.hpp"

namespace idem::test {

/// What goes into the configuration file. The texts are YAML in flow style, without the key before them.
struct proxy_settings {
  std::string upstream;             ///< the URL of the backend
  std::string upstream_more;        ///< e.g. "idle_timeout: 1s, keep_alive: {idle: 1s}"
  std::vector<std::string> routes;  ///< each one flow map, e.g. "{name: api}"; none: {name: api}
  std::uint16_t redis_port = 0;     ///< 0: the memory store
  std::string redis_host = "127.0.0.1";
  std::string redis_more;   ///< e.g. "command_timeout: 100ms"
  std::string server_more;  ///< e.g. "max_in_flight: 1, timeouts: {drain: 1s}"
  std::string listen_unix;  ///< a path to listen on instead of a port
  std::string more;         ///< more top-level lines
  bool wait_until_ready = true;
  std::string binary;  ///< another program than the product; empty: the product
};

class proxy_process {
 public:
  /// Writes the configuration, starts IDEM_BINARY and waits until /readyz answers 200; throws with the log if it does
  /// not within ten seconds.
  explicit proxy_process(proxy_settings settings);
  /// From the text of a whole file, in which `@LISTEN@`, `@ADMIN@` (host:port each), `@PORT@` (of LISTEN) and
  /// `@FOLDER@` are replaced.
  explicit proxy_process(const std::string& text, bool wait_until_ready = true, std::string binary = {});
  /// Kills it. A proxy that had already ended by itself fails the running test, and a failed test prints the log.
  ~proxy_process();
  proxy_process(const proxy_process&) = delete;
  proxy_process& operator=(const proxy_process&) = delete;

  std::uint16_t port() const { return port_; }
  std::uint16_t admin_port() const { return admin_port_; }
  pid_t pid() const { return process_.pid(); }
  std::string log() const;
  const temporary_folder& folder() const { return folder_; }
  /// What stands in the configuration file now.
  const std::string& text() const { return text_; }

  /// A new connection to the data port.
  http_client connect() const { return http_client(port_); }
  /// One request on a connection of its own.
  http_response fetch(const http_request& request, http_client::limit time = http_client::usual) const;
  /// One GET (or another method) on the admin port.
  http_response admin(const std::string& target, const std::string& method = "GET") const;
  /// The value of a sample on /metrics, e.g. `idem_x_total{route="api"}`, as its line begins; nothing if it is missing.
  std::optional<double> metric(std::string_view sample) const;

  void kill();  ///< SIGKILL, and waits for its end
  void pause() const;
  void resume() const;
  void terminate() const;  ///< SIGTERM, without waiting
  /// Waits for its end. The exit status, or minus a signal's number; nothing if it still runs after `time`.
  std::optional<int> wait_for_exit(std::chrono::milliseconds time = std::chrono::seconds(10));
  /// Starts it again with the same configuration and ports, after it has ended.
  void start();
  /// Writes another configuration (placeholders and ports as before), sends SIGHUP and waits until it is in use.
  void reload(proxy_settings settings);

 private:
  bool try_start();
  void choose_ports();
  void write();
  bool ready() const;

  temporary_folder folder_;
  std::string template_, text_, binary_;
  bool wait_until_ready_ = true;
  bool ended_on_purpose_ = false;
  std::uint16_t port_ = 0, admin_port_ = 0;
  child_process process_;
};

/// The configuration file for `settings`, with placeholders for the addresses.
std::string configuration(const proxy_settings& settings);

}  // namespace idem::test
