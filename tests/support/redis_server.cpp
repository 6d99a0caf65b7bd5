#include "support/redis_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "support/eventually.hpp"

namespace idem::test {

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  const bool known = ::bind(fd, reinterpret_cast<sockaddr*>(&where), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size) == 0;
  ::close(fd);
  if (!known) throw std::runtime_error("no free port");
  return ntohs(where.sin_port);
}

redis_server::redis_server(std::vector<std::string> options) : options_(std::move(options)) {
  // another program may take the port between the question and the start
  for (int tries = 0; tries < 5; ++tries) {
    port_ = free_port();
    if (try_start()) return;
  }
  throw std::runtime_error("redis-server does not start");
}

bool redis_server::try_start() {
  std::vector<std::string> line{"redis-server",
                                "--port",
                                std::to_string(port_),
                                "--bind",
                                "127.0.0.1",
                                "--dir",
                                folder_.path().string(),
                                "--unixsocket",
                                unix_path(),
                                "--save",
                                "",
                                "--daemonize",
                                "no"};
  line.insert(line.end(), options_.begin(), options_.end());
  process_ = child_process(line, (folder_.path() / "redis.log").string());
  bool up = false;
  eventually([&] {
    // another server on the same port would answer as well: ask for ours
    const auto info = command({"INFO", "server"});
    up = info.type == '-' ? info.text.starts_with("NOAUTH")
                          : info.text.find("process_id:" + std::to_string(pid()) + "\r") != std::string::npos;
    return up || !process_.running();
  });
  return up;
}

redis_value redis_server::command(const std::vector<std::string>& arguments) const {
  return redis_client(port_).command(arguments);
}

std::int64_t redis_server::calls(const std::string& name) const {
  const auto stats = command({"INFO", "commandstats"}).text;
  const auto key = "cmdstat_" + name + ":calls=";
  const auto at = stats.find(key);
  return at == std::string::npos ? 0 : std::strtoll(stats.c_str() + at + key.size(), nullptr, 10);
}

void redis_server::pause() const { process_.signal(SIGSTOP); }
void redis_server::resume() const { process_.signal(SIGCONT); }
void redis_server::kill() { process_.stop(SIGKILL); }
void redis_server::stop() { process_.stop(SIGTERM); }
void redis_server::start() {
  if (!try_start()) throw std::runtime_error("redis-server does not start again");
}

}  // namespace idem::test
