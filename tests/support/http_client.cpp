#include "support/http_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <thread>

#include "support/loopback.hpp"

namespace idem::test {
namespace {

using clock = std::chrono::steady_clock;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int milliseconds_left(clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

bool is_token(std::string_view s) {
  constexpr std::string_view more = "!#$%&'*+-.^_`|~";
  return !s.empty() && std::all_of(s.begin(), s.end(), [&](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || more.find(c) != std::string_view::npos;
  });
}

std::optional<std::size_t> number(std::string_view s, int base) {
  std::size_t n = 0;
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), n, base);
  if (s.empty() || ec != std::errc() || end != s.data() + s.size()) return {};
  return n;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string http_request::bytes() const {
  std::string out = method + " " + target + " HTTP/1.1\r\n";
  const auto given = [&](std::string_view name) {
    return std::any_of(fields.begin(), fields.end(), [&](const auto& f) { return same_name(f.first, name); });
  };
  if (!given("Host")) out += "Host: test\r\n";
  for (const auto& [name, value] : fields) out += name + ": " + value + "\r\n";
  const bool expects_body = method == "POST" || method == "PUT" || method == "PATCH";
  char size[20];
  std::snprintf(size, sizeof size, "%zx", body.size());
  if (chunked) {
    out += "Transfer-Encoding: chunked\r\n\r\n";
    if (!body.empty()) out += std::string(size) + "\r\n" + body + "\r\n";
    return out + "0\r\n\r\n";
  }
  if (!given("Content-Length") && (expects_body || !body.empty())) {
    out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return out + "\r\n" + body;
}

std::optional<std::string> http_response::field(std::string_view name) const {
  for (const auto& [n, value] : fields)
    if (same_name(n, name)) return value;
  return {};
}

std::vector<std::string> http_response::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [n, value] : fields)
    if (same_name(n, name)) values.push_back(value);
  return values;
}

http_client::http_client(std::uint16_t port) : fd_(connect_to(port)) {}

http_client::http_client(const std::string& unix_path) : fd_(connect_to(unix_path)) {}

http_client::~http_client() { close(); }

http_client::http_client(http_client&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), state_(other.state_), buffer_(std::move(other.buffer_)) {}

http_client& http_client::operator=(http_client&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
    state_ = other.state_;
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

bool http_client::send(std::string_view bytes) {
  const auto until = clock::now() + usual;
  while (!bytes.empty()) {
    const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    pollfd p{fd_, POLLOUT, 0};
    if (errno != EAGAIN || ::poll(&p, 1, milliseconds_left(until)) <= 0) return false;
  }
  return true;
}

bool http_client::send_slices(std::string_view bytes, std::size_t size) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    if (!send(bytes.substr(0, size))) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void http_client::half_close() { ::shutdown(fd_, SHUT_WR); }

void http_client::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void http_client::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool http_client::fill(when until) {
  if (fd_ < 0 || state_ != state::open) return false;
  pollfd p{fd_, POLLIN, 0};
  if (::poll(&p, 1, milliseconds_left(until)) <= 0) return false;
  char piece[65536];
  const auto n = ::recv(fd_, piece, sizeof piece, 0);
  if (n > 0) {
    buffer_.append(piece, static_cast<std::size_t>(n));
    return true;
  }
  state_ = n == 0 ? state::eof : state::rst;
  return false;
}

ending http_client::ended() const {
  if (state_ == state::eof) return ending::eof;
  return state_ == state::rst || fd_ < 0 ? ending::rst : ending::timeout;
}

std::optional<std::string> http_client::line(when until) {
  for (;;) {
    const auto at = buffer_.find('\n');
    if (at != std::string::npos) {
      auto text = buffer_.substr(0, at + 1);
      buffer_.erase(0, at + 1);
      return text;
    }
    if (!fill(until)) return {};
  }
}

bool http_client::read_fields(field_lines& into, http_response& r, std::string* raw, when until) {
  const auto fault = [&r](std::string what) {
    r.end = ending::malformed;
    r.fault = std::move(what);
    return false;
  };
  for (;;) {
    const auto text = line(until);
    if (!text) {
      r.end = ended();
      return false;
    }
    if (raw) *raw += *text;
    if (text->size() < 2 || (*text)[text->size() - 2] != '\r') return fault("bare LF: " + *text);
    const std::string_view field(text->data(), text->size() - 2);
    if (field.empty()) return true;
    const auto colon = field.find(':');
    if (colon == std::string_view::npos || !is_token(field.substr(0, colon))) return fault("field line: " + *text);
    auto value = field.substr(colon + 1);
    if (value.find_first_of(std::string_view("\r\0", 2)) != std::string_view::npos) return fault("value: " + *text);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    into.emplace_back(field.substr(0, colon), value);
  }
}

bool http_client::read_head(http_response& r, when until) {
  const auto first = line(until);
  if (!first) {
    r.end = ended();
    return false;
  }
  r.head = *first;
  const std::string_view s = *first;
  const auto status = s.size() > 14 || (s.size() == 14 && s[12] == ' ') ? number(s.substr(9, 3), 10) : std::nullopt;
  if (!s.starts_with("HTTP/1.") || !s.ends_with("\r\n") || !status || s[8] != ' ' || s[12] != ' ') {
    r.end = ending::malformed;
    r.fault = "status line: " + *first;
    return false;
  }
  r.version = s.substr(0, 8);
  r.reason = s.substr(13, s.size() - 15);
  if (!read_fields(r.fields, r, &r.head, until)) return false;
  r.status = static_cast<int>(*status);
  return true;
}

bool http_client::take(std::string& into, std::size_t size, when until) {
  for (;;) {
    const auto n = std::min(size, buffer_.size());
    into.append(buffer_, 0, n);
    buffer_.erase(0, n);
    size -= n;
    if (size == 0) return true;
    if (!fill(until)) return false;
  }
}

void http_client::read_chunks(http_response& r, when until) {
  const auto fault = [&r](std::string what) {
    r.end = ending::malformed;
    r.fault = std::move(what);
  };
  for (;;) {
    const auto head = line(until);
    if (!head) {
      r.end = ended();
      return;
    }
    const auto size =
        head->ends_with("\r\n") ? number(std::string_view(*head).substr(0, head->size() - 2), 16) : std::nullopt;
    if (!size) return fault("chunk size: " + *head);
    if (*size == 0) break;
    std::string end;
    if (!take(r.body, *size, until) || !take(end, 2, until)) {
      r.end = ended();
      return;
    }
    if (end != "\r\n") return fault("end of a chunk");
  }
  if (read_fields(r.trailers, r, nullptr, until)) r.end = ending::complete;
}

void http_client::read_body(http_response& r, when until, bool to_head) {
  const auto lengths = r.all("Content-Length"), codings = r.all("Transfer-Encoding");
  const auto fault = [&r](std::string what) {
    r.end = ending::malformed;
    r.fault = std::move(what);
  };
  if (lengths.size() > 1) return fault("two Content-Length");
  if (!codings.empty() && !lengths.empty()) return fault("both framings");
  if (!codings.empty() && (codings.size() > 1 || codings[0] != "chunked")) return fault("transfer coding");
  const auto length = lengths.empty() ? std::nullopt : number(lengths[0], 10);
  if (!lengths.empty() && !length) return fault("Content-Length: " + lengths[0]);
  if (r.status < 200 || r.status == 204) {
    if (!codings.empty() || !lengths.empty()) return fault("framing fields on an answer without a body");
  }
  if (to_head || r.status < 200 || r.status == 204 || r.status == 304) {
    r.end = ending::complete;
  } else if (!codings.empty()) {
    read_chunks(r, until);
  } else if (length) {
    r.end = take(r.body, *length, until) ? ending::complete : ended();
  } else {
    while (fill(until)) continue;
    r.body = std::exchange(buffer_, {});
    r.end = state_ == state::eof ? ending::complete : ended();
  }
}

http_response http_client::read(limit time, bool to_head) {
  const auto until = clock::now() + time;
  std::vector<http_response> interim;
  for (;;) {
    http_response r;
    const bool head = read_head(r, until);
    if (head) read_body(r, until, to_head);
    if (head && r.whole() && r.status < 200 && r.status != 101) {
      interim.push_back(std::move(r));
      continue;
    }
    r.interim = std::move(interim);
    return r;
  }
}

http_response http_client::exchange(const http_request& request, limit time) {
  send(request);
  return read(time, request.method == "HEAD");
}

bool http_client::wait_for(std::string_view text, limit time) {
  const auto until = clock::now() + time;
  while (buffer_.find(text) == std::string::npos)
    if (!fill(until)) return false;
  return true;
}

std::string http_client::drain(limit time) {
  const auto until = clock::now() + time;
  while (fill(until)) continue;
  return std::exchange(buffer_, {});
}

bool http_client::closed(limit time) {
  const auto until = clock::now() + time;
  while (fill(until)) continue;
  return state_ != state::open;
}

http_response fetch(std::uint16_t port, const http_request& request, http_client::limit time) {
  return http_client(port).exchange(request, time);
}

}  // namespace idem::test
