#include "support/loopback.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace idem::test {
namespace {

int connected(int fd, const void* address, socklen_t size) {
  if (::connect(fd, static_cast<const sockaddr*>(address), size) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

int connect_to(std::uint16_t port, std::uint32_t address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(address);
  return connected(fd, &where, sizeof where);
}

int connect_to(const std::string& unix_path) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::strncpy(where.sun_path, unix_path.c_str(), sizeof where.sun_path - 1);
  return connected(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &where, sizeof where);
}

}  // namespace idem::test
