// Blocking sockets to servers of this machine, for clients that are written in tests.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>

namespace idem::test {

/// A connection to a port of 127.0.0.1, or of another address in the host's byte order, without Nagle's delay. The
/// caller closes it; -1 if nobody listens there.
int connect_to(std::uint16_t port, std::uint32_t address = INADDR_LOOPBACK);
/// The same to a unix socket.
int connect_to(const std::string& unix_path);

}  // namespace idem::test
