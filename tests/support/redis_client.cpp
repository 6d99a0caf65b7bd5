#include "support/redis_client.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "support/loopback.hpp"

namespace idem::test {

redis_client::redis_client(std::uint16_t port) : fd_(connect_to(port)) {
  const timeval limit{10, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

redis_client::~redis_client() { end(); }

void redis_client::end() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

redis_value redis_client::command(const std::vector<std::string>& arguments) {
  if (!connected()) return {};
  std::string out = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const auto& a : arguments) out += "$" + std::to_string(a.size()) + "\r\n" + a + "\r\n";
  for (std::size_t sent = 0; sent < out.size();) {
    const auto n = ::send(fd_, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) {
      end();
      return {};
    }
    sent += static_cast<std::size_t>(n);
  }
  return read();
}

redis_value redis_client::read() {
  redis_value v;
  const auto head = line();
  if (head.empty()) return v;
  const auto number = std::strtoll(head.c_str() + 1, nullptr, 10);
  switch (head[0]) {
    case '+':
    case '-': v.text = head.substr(1); break;
    case ':': v.integer = number; break;
    case '$': {
      if (number < 0) return v;
      const auto size = static_cast<std::size_t>(number);
      while (buffer_.size() < size + 2)
        if (!fill()) return v;
      v.text = buffer_.substr(0, size);
      buffer_.erase(0, size + 2);
      break;
    }
    case '*':
      if (number < 0) return v;
      for (auto i = number; i > 0; --i) v.items.push_back(read());
      break;
    default: end(); return v;
  }
  v.type = head[0];
  return v;
}

std::string redis_client::line() {
  for (;;) {
    const auto at = buffer_.find("\r\n");
    if (at != std::string::npos) {
      auto text = buffer_.substr(0, at);
      buffer_.erase(0, at + 2);
      return text;
    }
    if (!fill()) return {};
  }
}

bool redis_client::fill() {
  char piece[16384];
  const auto n = connected() ? ::recv(fd_, piece, sizeof piece, 0) : 0;
  if (n <= 0) {
    end();
    return false;
  }
  buffer_.append(piece, static_cast<std::size_t>(n));
  return true;
}

}  // namespace idem::test
