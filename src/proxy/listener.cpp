#include "proxy/listener.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "idem/net/socket_file.hpp"
#include "idem/telemetry/log.hpp"
#include "proxy/client_connection.hpp"

namespace idem::proxy {

namespace asio = net::asio;
using namespace std::chrono_literals;

namespace {

constexpr int backlog = 4096;

std::string describe(const config::endpoint& where, const std::string& what) {
  return "cannot listen on " + where.text + ": " + what;
}

struct address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family = AF_INET;
};

bool resolve(const config::endpoint& where, std::uint16_t port, address& a, std::string& error) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const char* host = where.host.empty() ? nullptr : where.host.c_str();
  if (const int rc = ::getaddrinfo(host, std::to_string(port).c_str(), &hints, &found); rc != 0) {
    error = describe(where, ::gai_strerror(rc));
    return false;
  }
  std::memcpy(&a.storage, found->ai_addr, found->ai_addrlen);
  a.size = found->ai_addrlen;
  a.family = found->ai_family;
  ::freeaddrinfo(found);
  return true;
}

int fail(int fd, const config::endpoint& where, std::string& error) {
  error = describe(where, std::strerror(errno));
  if (fd >= 0) ::close(fd);
  return -1;
}

int open_tcp(const config::endpoint& where, std::uint16_t port, bool reuse_port, std::string& error) {
  address a;
  if (!resolve(where, port, a, error)) return -1;
  const int fd = ::socket(a.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(fd, where, error);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (reuse_port) ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (a.family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&a.storage), a.size) != 0) return fail(fd, where, error);
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage s{};
  socklen_t size = sizeof s;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&s), &size);
  return ntohs(s.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(s).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(s).sin_port);
}

int open_unix(const config::endpoint& where, std::string& error) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  if (where.unix_path.size() >= sizeof a.sun_path) {
    error = describe(where, "the path is too long for a unix socket");
    return -1;
  }
  std::memcpy(a.sun_path, where.unix_path.c_str(), where.unix_path.size() + 1);
  net::remove_left_over_socket(where.unix_path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(fd, where, error);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) != 0) return fail(fd, where, error);
  return fd;
}

int listening(int fd, const config::endpoint& where, std::string& error) {
  if (fd >= 0 && ::listen(fd, backlog) != 0) return fail(fd, where, error);
  return fd;
}

}  // namespace

int bind_listener(const config::endpoint& where, std::string& error, std::uint16_t& port) {
  if (where.is_unix()) return listening(open_unix(where, error), where, error);
  const int probe = open_tcp(where, where.port, false, error);
  if (probe < 0) return -1;
  // A bind without SO_REUSEPORT fails only if somebody listens; so the probe must not listen, and goes away.
  port = port_of(probe);
  ::close(probe);
  return listening(open_tcp(where, port, true, error), where, error);
}

int share_listener(int first, const config::endpoint& where, std::uint16_t port, std::string& error) {
  if (where.is_unix()) {
    const int fd = ::fcntl(first, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? fail(fd, where, error) : fd;
  }
  return listening(open_tcp(where, port, true, error), where, error);
}

listener::listener(worker& w, int descriptor, bool is_unix)
    : w_(w), acceptor_(w.io), is_unix_(is_unix), rest_(w.wheel) {
  sockaddr_storage s{};
  socklen_t size = sizeof s;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&s), &size);
  net::error_code ec;
  acceptor_.assign(asio::generic::stream_protocol(s.ss_family, is_unix ? 0 : IPPROTO_TCP), descriptor, ec);
  acceptor_.non_blocking(true, ec);
}

void listener::start() { net::spawn(w_.io.get_executor(), run()); }

net::task<void> listener::run() {
  auto self = shared_from_this();
  while (!closed_) {
    if (w_.shared.connections.load(std::memory_order_relaxed) < w_.current->config->server.max_connections) {
      net::socket s(w_.io);
      auto [ec] = co_await acceptor_.async_accept(s, net::as_result);
      // accepted is accepted, even if the drain has begun meanwhile: its request may be here already
      if (!ec && take(std::move(s))) continue;
      if (closed_) co_return;
      if (ec == asio::error::connection_aborted) continue;
      if (ec == asio::error::operation_aborted) co_return;
    }
    // EMFILE, ENFILE, ENOBUFS, ENOMEM: trying at once would only burn the CPU
    w_.metrics.accept_pauses.fetch_add(1, std::memory_order_relaxed);
    co_await rest_.wait(100ms);
  }
}

bool listener::take(net::socket s) {
  try {
    begin(std::move(s));
    return true;
  } catch (const std::bad_alloc&) {
    // Whoever accepts must go on: the kernel would keep giving this socket its share of the connections.
    return false;
  }
}

void listener::begin(net::socket s) {
  net::error_code ec;
  std::string peer(unix_peer);
  if (!is_unix_) {
    s.set_option(asio::ip::tcp::no_delay(true), ec);
    const auto remote = s.remote_endpoint(ec);
    if (!ec) {
      asio::ip::tcp::endpoint tcp;
      std::memcpy(tcp.data(), remote.data(), remote.size());
      tcp.resize(remote.size());
      auto address = tcp.address();
      if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
      }
      peer = address.to_string();
    }
  }
  s.non_blocking(true, ec);
  w_.metrics.accepted.fetch_add(1, std::memory_order_relaxed);
  auto connection = std::make_shared<client_connection>(w_, net::stream(std::move(s)), std::move(peer));
  auto life = connection->run();
  net::spawn(w_.io.get_executor(), net::keeping(std::move(connection), std::move(life)), [](const std::exception_ptr&) {
    // One connection must never take the process with it; what it held lapses into an unknown outcome.
    telemetry::error("a connection ended by an exception");
  });
}

void listener::close() {
  if (closed_) return;
  closed_ = true;
  for (;;) {
    net::socket s(w_.io);
    net::error_code ec;
    acceptor_.accept(s, ec);
    if (ec) break;
    take(std::move(s));
  }
  net::error_code ec;
  acceptor_.close(ec);
  rest_.wake();
}

}  // namespace idem::proxy
