#include "config/address.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <array>

#include "idem/text/ascii.hpp"
#include "idem/text/decimal.hpp"

namespace idem::config {
namespace {

using text::lower_case;

bool is_v4(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_v6(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 253 || text.front() == '.' || text.front() == '-') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return text::is_alnum(c) || c == '-' || c == '.' || c == '_'; });
}

/// A name, an IPv4 address, or an IPv6 address in brackets (without them in the result).
parsed<std::string> parse_host(std::string_view text) {
  using result = parsed<std::string>;
  if (text.empty()) return result::fail("has no host");
  if (text.front() == '[') {
    if (text.back() != ']') return result::fail("has a [ without its ]");
    const std::string inner(text.substr(1, text.size() - 2));
    if (!is_v6(inner)) return result::fail("has no IPv6 address between [ and ]");
    return inner;
  }
  const std::string host(text);
  if (is_v6(host)) return result::fail("has an IPv6 address without brackets, expected for example [::1]");
  // the last label of a name is never a number, so this was meant as an IPv4 address
  const std::string_view last = text.substr(text.rfind('.') + 1);
  const bool numeric = !last.empty() && std::all_of(last.begin(), last.end(), text::is_digit);
  if (numeric && !is_v4(host)) return result::fail("has no valid IPv4 address");
  if (!is_name(text)) return result::fail("has no valid host name");
  return host;
}

parsed<std::uint16_t> parse_port(std::string_view text) {
  const auto port = text::parse_decimal<std::uint16_t>(text);
  return port ? *port : parsed<std::uint16_t>::fail("has no valid port, expected a number up to 65535");
}

/// One spelling for each host: names in lower case, `localhost` by its address, IPv6 as short as it can be, IPv4 within
/// IPv6 as IPv4.
std::string comparable(const std::string& host) {
  const std::string name = lower_case(host);
  if (name == "localhost") return "127.0.0.1";
  in6_addr address{};
  if (inet_pton(AF_INET6, name.c_str(), &address) != 1) return name;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return inet_ntop(AF_INET6, &address, text.data(), text.size());
  return inet_ntop(AF_INET, address.s6_addr + 12, text.data(), text.size());
}

bool is_any(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

}  // namespace

parsed<endpoint> parse_host_port(std::string_view text, int otherwise) {
  using result = parsed<endpoint>;
  const std::size_t bracket = text.rfind(']');
  std::size_t colon = text.rfind(':');
  if (bracket != std::string_view::npos && colon != std::string_view::npos && colon < bracket) {
    colon = std::string_view::npos;
  }
  if (colon == std::string_view::npos && otherwise < 0) return result::fail("has no port, expected host:port");
  // `::1` would else be read as a host `:` and a port
  if (bracket == std::string_view::npos && is_v6(std::string(text))) {
    return result::fail("has an IPv6 address without brackets, expected for example [::1]:8080");
  }
  auto host = parse_host(text.substr(0, colon));
  if (!host) return result::fail(host.why);
  endpoint address;
  address.host = *host;
  address.text = text;
  address.port = static_cast<std::uint16_t>(std::max(otherwise, 0));
  if (colon != std::string_view::npos) {
    const auto port = parse_port(text.substr(colon + 1));
    if (!port) return result::fail(port.why);
    address.port = *port;
  }
  return address;
}

parsed<endpoint> parse_socket_path(std::string_view path) {
  using result = parsed<endpoint>;
  constexpr std::size_t room = sizeof(sockaddr_un::sun_path) - 1;
  while (path.starts_with("//")) path.remove_prefix(1);
  if (!path.starts_with('/') || path.size() < 2)
    return result::fail("has no absolute path of a socket, expected unix:/path");
  if (path.size() > room) {
    return result::fail("has a path that is too long for a socket, expected at most " + std::to_string(room) +
                        " bytes");
  }
  endpoint address;
  address.unix_path = path;
  address.text = "unix:" + std::string(path);
  return address;
}

parsed<endpoint> parse_listen_address(std::string_view text) {
  using result = parsed<endpoint>;
  if (text.starts_with("unix:")) {
    auto socket = parse_socket_path(text.substr(5));
    if (socket) socket.value->text = text;
    return socket;
  }
  if (text.find("://") != std::string_view::npos)
    return result::fail("is a URL, expected host:port, [v6]:port or unix:/path");
  if (text.starts_with(':') || text.starts_with("*:")) {
    return result::fail("has no host, expected host:port, for every address 0.0.0.0:PORT");
  }
  return parse_host_port(text, -1);
}

parsed<upstream_url> parse_upstream_url(std::string_view text) {
  using result = parsed<upstream_url>;
  constexpr const char* forms = "expected http://host:port, https://host:port or unix:/path";
  upstream_url url;
  if (text.starts_with("unix:")) {
    auto socket = parse_socket_path(text.substr(5));
    if (!socket) return result::fail(socket.why);
    url.address = *socket;
    return url;
  }
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return result::fail(std::string("has no scheme, ") + forms);
  const std::string scheme = lower_case(text.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") return result::fail(std::string("has an unknown scheme, ") + forms);
  url.tls = scheme == "https";
  std::string_view rest = text.substr(scheme_end + 3);
  const std::size_t path = rest.find_first_of("/?#");
  if (path != std::string_view::npos && rest.substr(path) != "/") {
    return result::fail("has a path, expected none: requests keep their own paths");
  }
  rest = rest.substr(0, path);
  if (rest.find('@') != std::string_view::npos) return result::fail("has a user or password, expected none");
  auto address = parse_host_port(rest, url.tls ? 443 : 80);
  if (!address) return result::fail(address.why);
  if (address->port == 0) return result::fail("has no valid port, expected 1 to 65535");
  url.address = *address;
  url.address.text = text;
  return url;
}

parsed<std::string> parse_host_name(std::string_view text) {
  using result = parsed<std::string>;
  if (is_v6(std::string(text))) return "[" + lower_case(text) + "]";
  if (text.find('*') != std::string_view::npos) {
    return result::fail("has a wildcard, expected one whole name, e.g. api.example.com");
  }
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    return result::fail("has a port, expected the name alone: ports do not count");
  }
  const auto host = parse_host(text);
  if (!host) return result::fail(host.why);
  if (text.front() == '[') return "[" + lower_case(*host) + "]";
  std::string name = lower_case(*host);
  if (name.ends_with('.')) name.pop_back();
  return name;
}

bool is_loopback(const endpoint& address) {
  if (address.is_unix()) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return lower_case(address.host) == "localhost";
}

bool overlaps(const endpoint& a, const endpoint& b) {
  if (a.is_unix() || b.is_unix()) return a.unix_path == b.unix_path;
  if (a.port != b.port || a.port == 0) return false;
  const std::string one = comparable(a.host), other = comparable(b.host);
  return one == other || (is_v6(one) == is_v6(other) && (is_any(one) || is_any(other)));
}

bool leads_to(const endpoint& target, const endpoint& own) {
  endpoint reached = target;
  reached.host = comparable(target.host);
  // who connects to every address of a machine comes to its own
  if (reached.host == "0.0.0.0") reached.host = "127.0.0.1";
  if (reached.host == "::") reached.host = "::1";
  // an address of another machine may be meant where `own` stands for every address of this one
  if (overlaps(reached, own)) return is_loopback(reached) || reached.host == comparable(own.host);
  if (lower_case(target.host) != "localhost") return false;
  reached.host = "::1";  // the name has two addresses
  return overlaps(reached, own);
}

}  // namespace idem::config
