#include "idem/net/socket_file.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace idem::net {

void remove_left_over_socket(const std::string& path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  struct stat found{};
  if (path.size() >= sizeof at.sun_path || ::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return;
  std::memcpy(at.sun_path, path.c_str(), path.size() + 1);
  // without waiting: the queue of one who is alive can be full
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return;
  const bool refused =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 && errno == ECONNREFUSED;
  ::close(probe);
  if (refused) ::unlink(path.c_str());
}

socket_file::socket_file(std::string path) : path_(std::move(path)) {
  struct stat made{};
  if (::lstat(path_.c_str(), &made) != 0) path_.clear();
  device_ = made.st_dev;
  number_ = made.st_ino;
}

socket_file::~socket_file() { remove(); }

socket_file::socket_file(socket_file&& other) noexcept
    : path_(std::exchange(other.path_, {})), device_(other.device_), number_(other.number_) {}

socket_file& socket_file::operator=(socket_file&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  device_ = other.device_;
  number_ = other.number_;
  return *this;
}

void socket_file::remove() {
  struct stat found{};
  if (path_.empty() || ::lstat(path_.c_str(), &found) != 0) return;
  if (found.st_dev == device_ && found.st_ino == number_) ::unlink(path_.c_str());
  path_.clear();
}

}  // namespace idem::net
