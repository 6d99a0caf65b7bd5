#include "idem/net/edge_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace idem::net {

namespace {

/// Closes a descriptor at the end.
struct owned {
  int fd;
  ~owned() {
    if (fd >= 0) ::close(fd);
  }
};

struct read_result {
  ssize_t got;
  int error;
  int left;  ///< bytes that are still there, one for the peer's end; not 0 if the kernel was not asked
};

read_result read_once(int fd, asio::mutable_buffer b, bool ask) {
  iovec part{b.data(), b.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (ask) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  read_result r{0, 0, 1};
  do r.got = ::recvmsg(fd, &message, MSG_DONTWAIT);
  while (r.got < 0 && errno == EINTR);
  if (r.got < 0) r.error = errno;
  if (r.got <= 0 || !ask) return r;
  for (auto* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level == IPPROTO_TCP && c->cmsg_type == TCP_CM_INQ) std::memcpy(&r.left, CMSG_DATA(c), sizeof r.left);
  }
  return r;
}

/// How many bytes are left after a read of one byte that came with the peer's end: by Linux one, for the end must be
/// read as well. Kernels that only look like Linux may say none, and whoever believed them would wait for ever.
bool kernel_tells_of_ends() {
  const owned listening{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const owned from{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  if (::bind(listening.fd, address, size) != 0 || ::getsockname(listening.fd, address, &size) != 0 ||
      ::listen(listening.fd, 1) != 0 || ::connect(from.fd, address, size) != 0)
    return false;
  const owned to{::accept4(listening.fd, nullptr, nullptr, SOCK_CLOEXEC)};
  const int on = 1;
  if (::setsockopt(to.fd, IPPROTO_TCP, TCP_INQ, &on, sizeof on) != 0) return false;
  if (::send(from.fd, "x", 1, MSG_NOSIGNAL) != 1 || ::shutdown(from.fd, SHUT_WR) != 0) return false;
  pollfd ended{to.fd, POLLRDHUP, 0};
  if (::poll(&ended, 1, 1000) != 1) return false;
  char byte = 0;
  const auto r = read_once(to.fd, {&byte, 1}, true);
  return r.got == 1 && r.left == 1;
}

}  // namespace

edge_socket::op::status edge_socket::any_watch::attempt(asio::detail::reactor_op* base) {
  auto& self = *static_cast<any_watch*>(base);
  if (self.successor) return self.successor->perform();
  if (self.ended) {
    self.missed = true;
    return not_done;
  }
  if (self.tried || self.from.quiet()) return not_done;
  self.from.disturbed_ = true;
  self.leave();
  return done;
}

void edge_socket::any_watch::leave() {
  if (auto* const s = std::exchange(watched, nullptr)) s->watch_ = nullptr;
}

/// One that was ended, and that no read has taken over, still stands in the reactor's queue.
void edge_socket::withdraw_watch() {
  auto* const w = watch_;
  if (!w) return;
  w->leave();
  auto& impl = impl_.get_implementation();
  reactor_.cancel_ops_by_key(impl.socket_, impl.reactor_data_, reactor::read_op, w);
}

void edge_socket::start(op* o, expect what) {
  auto& impl = impl_.get_implementation();
  // one that was cancelled is on its way out
  auto* const place = watch_ && watch_->ended && !watch_->ec_ ? watch_ : nullptr;
  // After a read that took everything the reactor waits for an event, and is right to. In all other cases this looks
  // itself: what the reactor believes may be older than what this read has left.
  if (what == expect::rest || !drained_ || (place && place->missed)) {
    if (o->perform() != op::not_done) {
      reactor_.post_immediate_completion(o, true);
      return;
    }
    o->tried = true;
  }
  if (place) {
    o->tried = false;
    place->successor = o;
    place->leave();
    return;
  }
  reactor_.start_op(reactor::read_op, impl.socket_, impl.reactor_data_, o, true, true);
  o->tried = false;
}

edge_socket::op::status edge_socket::receive(asio::mutable_buffer b, error_code& ec, std::size_t& n) {
  if (!asked_) {
    asked_ = true;
    static const bool honest = kernel_tells_of_ends();
    const int on = 1;
    tells_rest_ = honest && ::setsockopt(native_handle(), IPPROTO_TCP, TCP_INQ, &on, sizeof on) == 0;
  }
  const auto r = read_once(native_handle(), b, tells_rest_);
  drained_ = false;
  if (r.got < 0) {
    if (r.error == EAGAIN || r.error == EWOULDBLOCK) {
      drained_ = tells_rest_;
      return op::not_done;
    }
    ec = error_code(r.error, boost::system::system_category());
    return op::done;
  }
  ec = r.got == 0 ? error_code(asio::error::eof) : error_code();
  n = static_cast<std::size_t>(r.got);
  drained_ = r.got > 0 && r.left == 0;
  return drained_ ? op::done_and_exhausted : op::done;
}

bool edge_socket::quiet() {
  char c = 0;
  const auto n = ::recv(native_handle(), &c, 1, MSG_PEEK | MSG_DONTWAIT);
  return n < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace idem::net
