#include "support/scripted_backend.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace idem::test {

using std::chrono::milliseconds;

struct gate::shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
};

gate::gate() : shared_(std::make_shared<shared>()) {}

void gate::open() {
  const std::lock_guard lock(shared_->mutex);
  shared_->open = true;
  shared_->changed.notify_all();
}

bool gate::wait(milliseconds time) const {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, time, [this] { return shared_->open; });
}

std::optional<std::string> backend_request::field(std::string_view name) const {
  for (const auto& [n, value] : fields)
    if (same_name(n, name)) return value;
  return {};
}

std::size_t backend_request::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(), [&](const auto& f) { return same_name(f.first, name); }));
}

// ------------------------------------------------------------------------------------------------------------ scripts

std::string answer_bytes(int status, std::string_view body, const std::vector<std::string>& fields, framing how,
                         std::string_view reason) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) + "\r\n";
  for (const auto& f : fields) out += f + "\r\n";
  char size[20];
  std::snprintf(size, sizeof size, "%zx", body.size());
  const bool bodyless = status < 200 || status == 204 || status == 304;
  if (how == framing::chunked) {
    out += "Transfer-Encoding: chunked\r\n\r\n";
    if (!body.empty()) ((out += size) += "\r\n").append(body) += "\r\n";
    return out + "0\r\n\r\n";
  }
  if (how == framing::length && !bodyless) out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  (out += "\r\n").append(body);
  return out;
}

script reply(int status, std::string body, std::vector<std::string> fields, framing how) {
  auto bytes = answer_bytes(status, body, fields, how);
  return how == framing::until_close ? raw_then_close(std::move(bytes)) : raw(std::move(bytes));
}

script raw(std::string bytes) {
  return [bytes = std::move(bytes)](const backend_request&, backend_connection& c) { c.send(bytes); };
}

script raw_then_close(std::string bytes) { return both(raw(std::move(bytes)), close_connection()); }

script raw_then_reset(std::string bytes) {
  // what was sent must arrive before the reset does, since a reset throws away what is on its way
  return both(raw(std::move(bytes)), [](const backend_request&, backend_connection& c) {
    c.sleep(milliseconds(50));
    c.reset();
  });
}

script reset_connection() {
  return [](const backend_request&, backend_connection& c) { c.reset(); };
}

script close_connection() {
  return [](const backend_request&, backend_connection& c) { c.close(); };
}

script hang() {
  return [](const backend_request&, backend_connection& c) {
    c.peer_closed(std::chrono::minutes(5));
    c.close();
  };
}

script delayed(milliseconds time, script then) {
  return [=](const backend_request& r, backend_connection& c) {
    if (c.sleep(time)) then(r, c);
  };
}

script held(gate until, script then) {
  return [=](const backend_request& r, backend_connection& c) {
    while (!until.wait(milliseconds(10)))
      if (!c.sleep(milliseconds(0))) return c.close();
    then(r, c);
  };
}

script in_turn(std::vector<script> scripts) {
  auto next = std::make_shared<std::atomic<std::size_t>>(0);
  return [next, scripts = std::move(scripts)](const backend_request& r, backend_connection& c) {
    scripts[std::min(next->fetch_add(1), scripts.size() - 1)](r, c);
  };
}

script both(script first, script second) {
  return [=](const backend_request& r, backend_connection& c) {
    first(r, c);
    second(r, c);
  };
}

// ------------------------------------------------------------------------------------------------------------ backend

namespace {

std::string path_of(const std::string& target) { return target.substr(0, target.find('?')); }

/// A socket that gives up as soon as the backend ends.
class connection final : public backend_connection {
 public:
  connection(int fd, int stop, std::size_t number) : number(number), fd_(fd), stop_(stop) {}
  ~connection() override { close(); }

  bool open() const override { return fd_ >= 0; }

  bool send(std::string_view bytes) override {
    while (!bytes.empty() && open()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
      } else if (errno != EAGAIN || !ready(POLLOUT, std::chrono::minutes(5))) {
        return false;
      }
    }
    return open();
  }

  void close() override {
    if (open()) ::close(std::exchange(fd_, -1));
  }

  void reset() override {
    if (!open()) return;
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

  bool sleep(milliseconds time) override {
    pollfd p{stop_, POLLIN, 0};
    return ::poll(&p, 1, static_cast<int>(time.count())) == 0;
  }

  bool peer_closed(milliseconds time) override {
    const auto until = std::chrono::steady_clock::now() + time;
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
      if (!open() || !ready(POLLIN | POLLRDHUP, std::max(left, milliseconds(0)))) return !open();
      if (!receive()) return true;
    }
  }

  /// Reads until there is a line, and takes it, with its end.
  std::optional<std::string> line() {
    for (;;) {
      const auto at = in_.find('\n');
      if (at != std::string::npos) return cut(at + 1);
      if (!ready(POLLIN, std::chrono::minutes(5)) || !receive()) return {};
    }
  }

  std::optional<std::string> exactly(std::size_t size) {
    while (in_.size() < size)
      if (!ready(POLLIN, std::chrono::minutes(5)) || !receive()) return {};
    return cut(size);
  }

  const std::size_t number;

 private:
  bool ready(short events, milliseconds time) const {
    pollfd p[2] = {{fd_, events, 0}, {stop_, POLLIN, 0}};
    return ::poll(p, 2, static_cast<int>(time.count())) > 0 && p[1].revents == 0;
  }

  bool receive() {
    char piece[65536];
    const auto n = open() ? ::recv(fd_, piece, sizeof piece, 0) : 0;
    if (n > 0) in_.append(piece, static_cast<std::size_t>(n));
    return n > 0;
  }

  std::string cut(std::size_t size) {
    auto text = in_.substr(0, size);
    in_.erase(0, size);
    return text;
  }

  int fd_;
  int stop_;
  std::string in_;
};

}  // namespace

struct scripted_backend::impl {
  explicit impl(const place& where);
  ~impl();

  void accept();
  void serve(int fd, std::size_t number);
  bool read_head(connection& c, backend_request& r);
  bool read_body(connection& c, backend_request& r);
  script find(const std::map<std::string, script>& in, const std::string& target) const;
  void fault(std::string what);

  template <class Condition>
  bool wait(milliseconds time, Condition holds) const {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, holds);
  }

  place where;
  int listener = -1;
  int stop = -1;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::map<std::string, script> scripts, head_scripts;
  std::vector<backend_request> requests;
  std::vector<std::string> faults;
  std::size_t connections = 0, heads = 0, answers = 0;
  std::thread acceptor;
  std::list<std::thread> threads;
};

scripted_backend::impl::impl(const place& wanted) : where(wanted) {
  const bool local = !where.unix_path.empty();
  listener = ::socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  stop = ::eventfd(0, EFD_CLOEXEC);
  int failed = 0;
  if (local) {
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    std::strncpy(a.sun_path, where.unix_path.c_str(), sizeof a.sun_path - 1);
    failed = ::bind(listener, reinterpret_cast<sockaddr*>(&a), sizeof a);
  } else {
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(where.port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    failed = ::bind(listener, reinterpret_cast<sockaddr*>(&a), size);
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&a), &size);
    where.port = ntohs(a.sin_port);
  }
  if (failed != 0 || ::listen(listener, 256) != 0) throw std::runtime_error("the backend cannot listen");
  scripts["*"] = reply(200, "ok");
  acceptor = std::thread([this] { accept(); });
}

scripted_backend::impl::~impl() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(stop, &one, sizeof one);
  acceptor.join();
  for (auto& t : threads) t.join();
  ::close(listener);
  ::close(stop);
}

void scripted_backend::impl::accept() {
  for (;;) {
    pollfd p[2] = {{listener, POLLIN, 0}, {stop, POLLIN, 0}};
    ::poll(p, 2, -1);
    if (p[1].revents != 0) return;
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::size_t number = 0;
    {
      const std::lock_guard lock(mutex);
      number = ++connections;
      changed.notify_all();
    }
    threads.emplace_back([this, fd, number] { serve(fd, number); });
  }
}

script scripted_backend::impl::find(const std::map<std::string, script>& in, const std::string& target) const {
  const std::lock_guard lock(mutex);
  for (const auto& name : {path_of(target), std::string("*")})
    if (const auto at = in.find(name); at != in.end()) return at->second;
  return {};
}

void scripted_backend::impl::fault(std::string what) {
  const std::lock_guard lock(mutex);
  faults.push_back(std::move(what));
}

void scripted_backend::impl::serve(int fd, std::size_t number) {
  connection c(fd, stop, number);
  for (std::size_t n = 1; c.open(); ++n) {
    backend_request r;
    r.connection = number;
    r.on_connection = n;
    if (!read_head(c, r)) return;
    {
      const std::lock_guard lock(mutex);
      ++heads;
      changed.notify_all();
    }
    if (const auto s = find(head_scripts, r.target)) s(r, c);
    if (!c.open() || !read_body(c, r)) return;
    {
      const std::lock_guard lock(mutex);
      requests.push_back(r);
      changed.notify_all();
    }
    find(scripts, r.target)(r, c);
    const std::lock_guard lock(mutex);
    ++answers;
    changed.notify_all();
  }
}

bool scripted_backend::impl::read_head(connection& c, backend_request& r) {
  const auto first = c.line();
  if (!first) return false;
  r.head = *first;
  const auto a = first->find(' '), b = first->rfind(' ');
  if (a == std::string::npos || a == b || first->substr(b + 1) != "HTTP/1.1\r\n") {
    fault("request line: " + *first);
    return false;
  }
  r.method = first->substr(0, a);
  r.target = first->substr(a + 1, b - a - 1);
  for (;;) {
    const auto l = c.line();
    if (!l) return false;
    r.head += *l;
    if (*l == "\r\n") return true;
    const auto colon = l->find(':');
    if (!l->ends_with("\r\n") || colon == std::string::npos || colon == 0 || (*l)[colon - 1] == ' ') {
      fault("field line: " + *l);
      return false;
    }
    const auto from = l->find_first_not_of(" \t", colon + 1);
    const auto to = l->find_last_not_of(" \t\r\n");
    r.fields.emplace_back(l->substr(0, colon), from <= to ? l->substr(from, to - from + 1) : "");
  }
}

bool scripted_backend::impl::read_body(connection& c, backend_request& r) {
  const auto length = r.field("Content-Length");
  const auto coding = r.field("Transfer-Encoding");
  if ((length && coding) || r.count("Content-Length") > 1 || (coding && *coding != "chunked")) {
    fault("framing: " + r.head);
    return false;
  }
  if (length) {
    auto body = c.exactly(std::stoull(*length));
    if (body) r.body = std::move(*body);
    return body.has_value();
  }
  if (!coding) return true;
  for (;;) {
    const auto size = c.line();
    if (!size) return false;
    const auto n = std::strtoull(size->c_str(), nullptr, 16);
    if (n == 0) break;
    const auto data = c.exactly(n + 2);
    if (!data) return false;
    r.body += data->substr(0, n);
  }
  for (;;) {
    const auto trailer = c.line();
    if (!trailer) return false;
    if (*trailer == "\r\n") return true;
  }
}

scripted_backend::scripted_backend(const place& where) : impl_(std::make_unique<impl>(where)) {}
scripted_backend::~scripted_backend() = default;

std::uint16_t scripted_backend::port() const { return impl_->where.port; }

std::string scripted_backend::url() const {
  const auto& path = impl_->where.unix_path;
  return path.empty() ? "http://127.0.0.1:" + std::to_string(port()) : "unix:" + path;
}

void scripted_backend::on(const std::string& path, script s) {
  const std::lock_guard lock(impl_->mutex);
  impl_->scripts[path] = std::move(s);
}

void scripted_backend::on_head(const std::string& path, script s) {
  const std::lock_guard lock(impl_->mutex);
  impl_->head_scripts[path] = std::move(s);
}

std::vector<backend_request> scripted_backend::requests() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

std::size_t scripted_backend::count() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->requests.size();
}

std::size_t scripted_backend::count(const std::string& key) const {
  const std::lock_guard lock(impl_->mutex);
  return static_cast<std::size_t>(
      std::count_if(impl_->requests.begin(), impl_->requests.end(), [&](const auto& r) { return r.key() == key; }));
}

std::size_t scripted_backend::connections() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->connections;
}

std::size_t scripted_backend::heads() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->heads;
}

bool scripted_backend::wait_for(std::size_t n, milliseconds time) const {
  return impl_->wait(time, [&] { return impl_->requests.size() >= n; });
}

bool scripted_backend::wait_for(const std::string& key, std::size_t n, milliseconds time) const {
  return impl_->wait(time, [&] {
    return static_cast<std::size_t>(std::count_if(impl_->requests.begin(), impl_->requests.end(),
                                                  [&](const auto& r) { return r.key() == key; })) >= n;
  });
}

bool scripted_backend::wait_for_answers(std::size_t n, milliseconds time) const {
  return impl_->wait(time, [&] { return impl_->answers >= n; });
}

std::vector<std::string> scripted_backend::faults() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->faults;
}

}  // namespace idem::test
