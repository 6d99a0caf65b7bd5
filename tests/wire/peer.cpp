#include "wire/peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/loopback.hpp"

namespace idem::test {
namespace {

using clock = std::chrono::steady_clock;

bool ready(int fd, short events, clock::time_point until) {
  pollfd p{fd, events, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  return ::poll(&p, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0;
}

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Of either family.
class ip_address {
 public:
  ip_address(const std::string& text, std::uint16_t port) {
    six_ = ::inet_pton(AF_INET6, text.c_str(), &a6_.sin6_addr) == 1;
    if (!six_ && ::inet_pton(AF_INET, text.c_str(), &a4_.sin_addr) != 1) throw std::runtime_error("no address");
    a4_.sin_port = a6_.sin6_port = htons(port);
  }
  const sockaddr* get() const {
    return six_ ? reinterpret_cast<const sockaddr*>(&a6_) : reinterpret_cast<const sockaddr*>(&a4_);
  }
  socklen_t size() const { return six_ ? sizeof a6_ : sizeof a4_; }

 private:
  sockaddr_in6 a6_{AF_INET6, 0, 0, {}, 0};
  sockaddr_in a4_{AF_INET, 0, {}, {}};
  bool six_ = false;
};

std::uint16_t port_of(int fd) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size);
  return ntohs(a.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(a).sin6_port
                                       : reinterpret_cast<const sockaddr_in&>(a).sin_port);
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::strncpy(a.sun_path, path.c_str(), sizeof a.sun_path - 1);
  return a;
}

std::string last_tls_fault() {
  char text[256] = "the stream ended";
  if (const auto code = ERR_get_error(); code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- making

peer::~peer() { close(); }

peer::peer(peer&& o) noexcept
    : fd_(std::exchange(o.fd_, -1)),
      end_(o.end_),
      in_(std::move(o.in_)),
      context_(std::exchange(o.context_, nullptr)),
      tls_(std::exchange(o.tls_, nullptr)),
      tls_fault_(std::move(o.tls_fault_)) {}

peer& peer::operator=(peer&& o) noexcept {
  if (this == &o) return *this;
  close();
  fd_ = std::exchange(o.fd_, -1);
  end_ = o.end_;
  in_ = std::move(o.in_);
  context_ = std::exchange(o.context_, nullptr);
  tls_ = std::exchange(o.tls_, nullptr);
  tls_fault_ = std::move(o.tls_fault_);
  return *this;
}

peer peer::connect(std::uint16_t port) { return peer(connect_to(port)); }

peer peer::connect(const std::string& address, std::uint16_t port) {
  const ip_address a(address, port);
  peer p(::socket(a.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  no_delay(p.fd_);
  if (::connect(p.fd_, a.get(), a.size()) != 0) p.close();
  return p;
}

peer peer::connect_unix(const std::string& path) { return peer(connect_to(path)); }

void peer::small_window() {
  const int size = 16 * 1024;
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

// ---------------------------------------------------------------------------------------------------------------- TLS

bool peer::begin_tls(const tls_settings& s, bool as_server) {
  ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  const timeval limit{5, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  context_ = SSL_CTX_new(as_server ? TLS_server_method() : TLS_client_method());
  // a version that the distribution's policy forbids must still be offered, so that the other side can refuse it
  SSL_CTX_set_security_level(context_, 0);
  SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
  if (s.most != 0) SSL_CTX_set_max_proto_version(context_, s.most);
  if (!s.ca.empty()) {
    SSL_CTX_load_verify_locations(context_, s.ca.c_str(), nullptr);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | (as_server ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  }
  if (!s.certificate.empty()) {
    SSL_CTX_use_certificate_chain_file(context_, s.certificate.c_str());
    SSL_CTX_use_PrivateKey_file(context_, s.key.c_str(), SSL_FILETYPE_PEM);
  }
  tls_ = SSL_new(context_);
  if (!s.server_name.empty()) {
    SSL_set_tlsext_host_name(tls_, s.server_name.c_str());
    SSL_set1_host(tls_, s.server_name.c_str());
  }
  if (!s.protocol.empty()) {
    const std::string wire = static_cast<char>(s.protocol.size()) + s.protocol;
    SSL_set_alpn_protos(tls_, reinterpret_cast<const unsigned char*>(wire.data()), static_cast<unsigned>(wire.size()));
  }
  SSL_set_fd(tls_, fd_);
  ERR_clear_error();
  if ((as_server ? SSL_accept(tls_) : SSL_connect(tls_)) == 1) return true;
  tls_fault_ = last_tls_fault();
  return false;
}

void peer::end_tls() { SSL_shutdown(tls_); }

std::string peer::tls_version() const { return SSL_get_version(tls_); }

std::string peer::tls_protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::string peer::tls_asked_name() const {
  const char* name = SSL_get_servername(tls_, TLSEXT_NAMETYPE_host_name);
  return name ? name : "";
}

std::string peer::tls_peer_name() const {
  char text[128] = "";
  if (auto* c = SSL_get1_peer_certificate(tls_)) {
    X509_NAME_get_text_by_NID(X509_get_subject_name(c), NID_commonName, text, sizeof text);
    X509_free(c);
  }
  return text;
}

// ------------------------------------------------------------------------------------------------------------- sending

bool peer::send(std::string_view bytes) {
  const auto until = clock::now() + std::chrono::seconds(20);
  while (!bytes.empty()) {
    if (tls_) {
      const int n = SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()));
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EAGAIN || !ready(fd_, POLLOUT, until)) {
      return false;
    }
  }
  return true;
}

bool peer::send_byte_by_byte(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (!send(bytes.substr(i, 1))) return false;
  return true;
}

void peer::hold_back(bool on) {
  const int held = on ? 1 : 0;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_CORK, &held, sizeof held);
}

void peer::half_close() { ::shutdown(fd_, SHUT_WR); }

void peer::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void peer::close() {
  if (tls_) SSL_free(std::exchange(tls_, nullptr));
  if (context_) SSL_CTX_free(std::exchange(context_, nullptr));
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

// ------------------------------------------------------------------------------------------------------------- reading

bool peer::fill(when until) {
  if (fd_ < 0 || end_ != end::none) return false;
  char piece[65536];
  if (tls_) {
    if (SSL_pending(tls_) == 0 && !ready(fd_, POLLIN, until)) return false;
    ERR_clear_error();
    const int n = SSL_read(tls_, piece, sizeof piece);
    if (n > 0) return in_.append(piece, static_cast<std::size_t>(n)), true;
    const int why = SSL_get_error(tls_, n);
    if (why != SSL_ERROR_WANT_READ) end_ = why == SSL_ERROR_ZERO_RETURN ? end::clean : end::reset;
    if (end_ == end::reset) tls_fault_ = last_tls_fault();
    return false;
  }
  if (!ready(fd_, POLLIN, until)) return false;
  const auto n = ::recv(fd_, piece, sizeof piece, 0);
  if (n > 0) return in_.append(piece, static_cast<std::size_t>(n)), true;
  end_ = n == 0 ? end::clean : end::reset;
  return false;
}

std::string peer::take(std::size_t size) {
  auto text = in_.substr(0, size);
  in_.erase(0, size);
  return text;
}

std::string peer::read(std::size_t size, limit time) {
  const auto until = clock::now() + time;
  while (in_.size() < size && fill(until)) {
  }
  return take(size);
}

std::string peer::read_until(std::string_view text, limit time) {
  const auto until = clock::now() + time;
  for (;;) {
    const auto at = in_.find(text);
    if (at != std::string::npos) return take(at + text.size());
    if (!fill(until)) return take(in_.size());
  }
}

std::string peer::rest(limit time) {
  const auto until = clock::now() + time;
  while (fill(until)) {
  }
  return take(in_.size());
}

std::string peer::within(limit time) { return rest(time); }

bool peer::swells(limit time) const {
  constexpr auto quiet = std::chrono::milliseconds(150);
  int before = 0;
  auto since = clock::now();
  for (const auto until = since + time; clock::now() < until;
       std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    int now = 0;
    ::ioctl(fd_, FIONREAD, &now);
    if (now != before) since = clock::now();
    before = now;
    if (now > 0 && clock::now() - since > quiet) return true;
  }
  return false;
}

std::size_t peer::discard(std::size_t size, limit time) {
  const auto until = clock::now() + time;
  for (std::size_t got = 0;;) {
    const auto n = std::min(in_.size(), size - got);
    in_.erase(0, n);
    got += n;
    if (got == size || !fill(until)) return got;
  }
}

// --------------------------------------------------------------------------------------------------------------- hosts

host::host() : host("127.0.0.1", 0) {
  if (!listening()) throw std::runtime_error("the host cannot listen");
}

host::host(const std::string& address, std::uint16_t port) : address_(address) {
  const ip_address a(address, port);
  fd_ = ::socket(a.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  // where an earlier host of this port has had connections
  ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd_, a.get(), a.size()) != 0 || ::listen(fd_, 256) != 0) {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    return;
  }
  port_ = port_of(fd_);
}

host::host(const std::string& unix_path) : path_(unix_path) {
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto a = unix_address(unix_path);
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 || ::listen(fd_, 256) != 0) {
    throw std::runtime_error("the host cannot listen");
  }
}

host::~host() {
  if (fd_ >= 0) ::close(fd_);
}

std::string host::url() const {
  if (!path_.empty()) return "unix:" + path_;
  const bool v6 = address_.find(':') != std::string::npos;
  return "http://" + (v6 ? "[" + address_ + "]" : address_) + ":" + std::to_string(port_);
}

peer host::accept(peer::limit time) {
  if (!ready(fd_, POLLIN, clock::now() + time)) return {};
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0 && path_.empty()) no_delay(fd);
  return peer(fd);
}

void host::backlog(int size) { ::listen(fd_, size); }

void host::clear() {
  while (accept(peer::limit(0)).open()) {
  }
}

}  // namespace idem::test
