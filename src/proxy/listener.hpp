// One listening socket of one thread.
#pragma once

#include <memory>
#include <string>

#include "idem/config/config.hpp"
#include "idem/net/pause.hpp"
#include "idem/net/types.hpp"
#include "proxy/worker.hpp"

namespace idem::proxy {

/// A bound and listening descriptor for an address, or -1 with `error` as a sentence. The address is first bound
/// without SO_REUSEPORT, so that one that another process uses is an error. `port` gets the port of TCP addresses.
int bind_listener(const config::endpoint& where, std::string& error, std::uint16_t& port);
/// Another descriptor for the same address: a socket of its own for TCP (SO_REUSEPORT), the same one for unix sockets.
int share_listener(int first, const config::endpoint& where, std::uint16_t port, std::string& error);

/// Accepts until it is closed. Pauses for a moment when descriptors or memory run out, and at max_connections.
class listener : public std::enable_shared_from_this<listener> {
 public:
  listener(worker& w, int descriptor, bool is_unix);

  void start();
  /// Takes what the kernel has accepted already, then closes.
  void close();

 private:
  net::task<void> run();
  /// False if there is no memory for it: it is closed.
  bool take(net::socket s);
  void begin(net::socket s);

  worker& w_;
  net::acceptor acceptor_;
  bool is_unix_;
  bool closed_ = false;
  net::pause rest_;
};

}  // namespace idem::proxy
