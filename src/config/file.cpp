#include "config/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "config/units.hpp"

namespace idem::config {
namespace {

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

parsed<std::string> failure(int error) {
  return parsed<std::string>::fail("cannot be read: " + std::generic_category().message(error));
}

/// White space and byte order marks, which nobody sees.
bool has_blank_ends(std::string_view secret) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  return is_blank(secret.front()) || is_blank(secret.back()) || secret.starts_with("\xef\xbb\xbf");
}

}  // namespace

parsed<std::string> read_file(const std::string& path, std::size_t most) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return failure(errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failure(errno);
  if (S_ISDIR(status.st_mode)) return failure(EISDIR);
  // a device might never end
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    return parsed<std::string>::fail("cannot be read: it is no regular file");
  }
  std::string content;
  std::array<char, 16384> buffer;
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(errno);
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
    if (content.size() > most) return parsed<std::string>::fail("is larger than " + show_size(most));
  }
}

parsed<std::string> read_file(report& out, const std::string& path, std::size_t most) {
  out.depends_on(path);
  return read_file(path, most);
}

parsed<std::string> read_secret(report& out, const place& at, const std::string& path) {
  constexpr std::size_t most = 64 * 1024;
  auto content = read_file(out, path, most);
  if (!content) return content;
  std::string secret = *content;
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.ends_with('\r')) secret.pop_back();
  if (secret.empty()) return parsed<std::string>::fail("is empty, expected a secret");
  if (secret.find('\n') != std::string::npos) return parsed<std::string>::fail("has several lines, expected one");
  if (has_blank_ends(secret)) {
    out.warning(at, out.value(path) +
                        " has white space or a byte order mark around its secret, which are taken for a "
                        "part of it");
  }
  return secret;
}

}  // namespace idem::config
