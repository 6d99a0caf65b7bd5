#include "config/address.hpp"
#include "idem/text/decimal.hpp"
#include "idem/text/percent.hpp"

namespace idem::config {
namespace {

constexpr unsigned most_databases = 65535;
constexpr int redis_port = 6379;

parsed<std::string> percent_decode(std::string_view text) {
  auto decoded = text::percent_decode(text);
  if (!decoded) return parsed<std::string>::fail("has a % without two hex digits in its user or password");
  return *decoded;
}

parsed<unsigned> parse_database(std::string_view text) {
  const auto database = text::parse_decimal<unsigned>(text);
  if (!database || *database > most_databases) {
    return parsed<unsigned>::fail("has no valid database, expected a number such as 0");
  }
  return *database;
}

/// Reads `user:password`. Returns the reason of a failure, else nothing.
std::string read_credentials(std::string_view credentials, redis_url& url) {
  const std::size_t colon = credentials.find(':');
  auto user = percent_decode(credentials.substr(0, colon));
  if (!user) return user.why;
  url.username = *user;
  if (colon == std::string_view::npos) return {};
  auto password = percent_decode(credentials.substr(colon + 1));
  if (!password) return password.why;
  url.password = *password;
  return {};
}

parsed<redis_url> parse_socket_form(std::string_view rest, redis_url url) {
  using result = parsed<redis_url>;
  // an @ may stand in the path as well, so that credentials end where the path begins
  const std::size_t at = rest.starts_with('/') ? std::string_view::npos : rest.find("@/");
  if (at != std::string_view::npos) {
    if (std::string why = read_credentials(rest.substr(0, at), url); !why.empty()) return result::fail(why);
    rest.remove_prefix(at + 1);
  }
  const std::size_t query = rest.find('?');
  auto socket = parse_socket_path(rest.substr(0, query));
  if (!socket) return result::fail("has no absolute path of a socket that fits, expected redis+unix:///path?db=N");
  url.address = *socket;
  if (query == std::string_view::npos) return url;
  const std::string_view parameter = rest.substr(query + 1);
  if (!parameter.starts_with("db=")) return result::fail("has an unknown parameter, expected ?db=N only");
  const auto database = parse_database(parameter.substr(3));
  if (!database) return result::fail(database.why);
  url.database = *database;
  return url;
}

parsed<redis_url> parse_host_form(std::string_view rest, redis_url url) {
  using result = parsed<redis_url>;
  // the last @ counts, and before anything else: a password may hold @, / and ? as they are
  const std::size_t at = rest.rfind('@');
  if (at != std::string_view::npos) {
    if (std::string why = read_credentials(rest.substr(0, at), url); !why.empty()) return result::fail(why);
    rest.remove_prefix(at + 1);
  }
  if (rest.find_first_of("?#") != std::string_view::npos)
    return result::fail("has parameters, expected none after the database");
  const std::size_t slash = rest.find('/');
  auto address = parse_host_port(rest.substr(0, slash), redis_port);
  if (!address) return result::fail(address.why);
  if (address->port == 0) return result::fail("has no valid port, expected 1 to 65535");
  url.address = *address;
  const std::string_view database_text = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  if (!database_text.empty()) {
    const auto database = parse_database(database_text);
    if (!database) return result::fail(database.why);
    url.database = *database;
  }
  return url;
}

}  // namespace

parsed<redis_url> parse_redis_url(std::string_view text) {
  redis_url url;
  if (text.starts_with("redis+unix://")) return parse_socket_form(text.substr(13), url);
  if (text.starts_with("rediss://")) {
    url.tls = true;
    return parse_host_form(text.substr(9), url);
  }
  if (text.starts_with("redis://")) return parse_host_form(text.substr(8), url);
  return parsed<redis_url>::fail("has an unknown scheme, expected redis://, rediss:// or redis+unix://");
}

}  // namespace idem::config
