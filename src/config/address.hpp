// Addresses and URLs of the configuration: what to listen on, the upstream, the Redis server.
#pragma once

#include <string>
#include <string_view>

#include "config/parsed.hpp"
#include "idem/config/config.hpp"

namespace idem::config {

/// `host:port`, `[v6]:port` or `unix:/path`. Port 0 is taken: the system chooses one.
parsed<endpoint> parse_listen_address(std::string_view text);

/// `http://host[:port]`, `https://host[:port]` or `unix:/path`; a lone `/` may follow the host.
struct upstream_url {
  endpoint address;
  bool tls = false;
};
parsed<upstream_url> parse_upstream_url(std::string_view text);

/// `redis://[user[:password]@]host[:port][/db]`, `rediss://…` and `redis+unix://[user[:password]@]/path[?db=N]`; user
/// and password are percent-decoded. No reason for a failure holds a part of the URL: it may be the password.
struct redis_url {
  endpoint address;  ///< its `text` has no user and no password
  bool tls = false;
  unsigned database = 0;
  std::string username, password;
};
parsed<redis_url> parse_redis_url(std::string_view text);

/// `host`, `a.b` or `[v6]` without a port, in lower case and without a dot at its end.
parsed<std::string> parse_host_name(std::string_view text);

/// `host[:port]` with brackets around IPv6; the port is `otherwise` if none is written (-1 = one must be).
parsed<endpoint> parse_host_port(std::string_view text, int otherwise);

/// An absolute path that fits into a socket address.
parsed<endpoint> parse_socket_path(std::string_view path);

/// Unix sockets, 127.0.0.0/8, ::1 and `localhost`. Other names are not looked up and count as remote.
bool is_loopback(const endpoint& address);

/// Whether both cannot be bound at once, as far as it can be seen without binding.
bool overlaps(const endpoint& a, const endpoint& b);

/// Whether who connects to `target` comes, as far as it can be seen, to who listens on `own`.
bool leads_to(const endpoint& target, const endpoint& own);

}  // namespace idem::config
