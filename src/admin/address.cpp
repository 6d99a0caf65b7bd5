#include "admin/address.hpp"

#include <netinet/in.h>
#include <sys/un.h>

namespace idem::admin {

namespace asio = net::asio;

std::vector<stream_endpoint> resolve(const config::endpoint& address, net::error_code& ec) {
  ec = {};
  if (address.is_unix()) {
    // the endpoint's constructor would throw
    if (address.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
      ec = asio::error::name_too_long;
      return {};
    }
    return {stream_endpoint(asio::local::stream_protocol::endpoint(address.unix_path))};
  }
  asio::io_context io(1);
  asio::ip::tcp::resolver resolver(io);
  const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                      asio::ip::resolver_base::passive | asio::ip::resolver_base::numeric_service, ec);
  std::vector<stream_endpoint> endpoints;
  for (const auto& one : found) endpoints.emplace_back(one.endpoint());
  return endpoints;
}

bool is_local(const stream_endpoint& peer) {
  switch (peer.data()->sa_family) {
    case AF_UNIX: return true;
    case AF_INET: {
      sockaddr_in v4{};
      std::memcpy(&v4, peer.data(), sizeof v4);
      return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    }
    case AF_INET6: {
      sockaddr_in6 v6{};
      std::memcpy(&v6, peer.data(), sizeof v6);
      if (IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) return true;
      return IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && v6.sin6_addr.s6_addr[12] == 127;
    }
    default: return false;
  }
}

}  // namespace idem::admin
