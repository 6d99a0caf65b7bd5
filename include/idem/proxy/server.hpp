// The data side of the program: threads, listeners, and everything between a client and the backend.
//
// One io_context for each thread, each with its own listeners (SO_REUSEPORT), upstream pool and store session. The
// methods of `server` may be called from any thread unless they say otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "idem/config/config.hpp"
#include "idem/store/store.hpp"
#include "idem/telemetry/metrics.hpp"

namespace idem::proxy {

class server {
 public:
  /// `store` and `metrics` must outlive the server.
  server(std::shared_ptr<const config::snapshot> config, store::backend& store, telemetry::registry& metrics);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Binds every listener. Returns what went wrong as a sentence that names the address, or an empty string.
  std::string listen();

  /// Starts the threads. After listen().
  void start();

  /// New requests use this configuration; those in flight end on theirs. Listeners, threads and store stay as they are.
  /// Returns why it cannot be used, and then nothing has changed: certificates that OpenSSL refuses; else an empty
  /// string. Call from one thread only.
  std::string adopt(std::shared_ptr<const config::snapshot> config);

  /// Answers carry Connection: close from now on; serving goes on (`POST /drain`).
  void drain();
  bool draining() const;

  /// Stops accepting, closes idle connections, lets requests end; what still runs after `limit` is declared unknown in
  /// the store. Returns when all is done. Call from a thread that is not one of the server's.
  void shutdown(std::chrono::milliseconds limit);

  /// Whether the store answered each of the threads when that asked it last, for /readyz; the metric says the same.
  bool store_reachable() const;

  /// Ports of the TCP listeners, in the order of the configuration (for addresses with port 0).
  std::vector<std::uint16_t> ports() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace idem::proxy
