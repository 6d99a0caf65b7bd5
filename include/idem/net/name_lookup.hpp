// The addresses of a host's name.
//
// A look-up cannot be broken off, and takes half a minute where the servers that are asked do not answer. Asio has one
// thread for all look-ups of an io_context, and the end of the io_context waits for it: a name that cannot be looked up
// would hold up those that can, and the end of the process. Here each look-up that is under way has a thread of its
// own, which nobody waits for.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "idem/net/types.hpp"

namespace idem::net {

/// One look-up at a time. Belongs to the thread of its io_context, and goes before that does.
class name_lookup {
 public:
  using addresses = std::vector<asio::ip::tcp::endpoint>;
  using handler = std::function<void(const error_code&, const addresses&)>;

  explicit name_lookup(asio::io_context& io) : io_(io) {}
  ~name_lookup() { cancel(); }
  name_lookup(const name_lookup&) = delete;
  name_lookup& operator=(const name_lookup&) = delete;

  /// Asks for both families, in place of what was asked for before. `done` is called once, not within this call. Those
  /// who ask for a name that is being looked up wait for the same answer. It is no work of the io_context's.
  void start(const std::string& host, std::uint16_t port, handler done);
  /// The handler is not called any more.
  void cancel();

 private:
  struct request;
  friend class lookups;
  asio::io_context& io_;
  std::shared_ptr<request> request_;
};

}  // namespace idem::net
