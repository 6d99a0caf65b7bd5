#include "idem/net/edge_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>

namespace idem::net {

void edge_socket::start(op* o, expect what) {
  auto& impl = impl_.get_implementation();
  // After a read that took everything the reactor waits for an event, and is right to. In all other cases this looks
  // itself: what the reactor believes may be older than what this read has left.
  if (what == expect::rest || !drained_) {
    if (o->perform() != op::not_done) {
      reactor_.post_immediate_completion(o, true);
      return;
    }
    o->tried = true;
  }
  reactor_.start_op(reactor::read_op, impl.socket_, impl.reactor_data_, o, true, true);
  o->tried = false;
}

edge_socket::op::status edge_socket::receive(asio::mutable_buffer b, error_code& ec, std::size_t& n) {
  const int fd = native_handle();
  if (!asked_) {
    asked_ = true;
    const int on = 1;
    tells_rest_ = ::setsockopt(fd, IPPROTO_TCP, TCP_INQ, &on, sizeof on) == 0;
  }
  iovec part{b.data(), b.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (tells_rest_) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do got = ::recvmsg(fd, &message, MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  drained_ = false;
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      drained_ = tells_rest_;
      return op::not_done;
    }
    ec = error_code(errno, boost::system::system_category());
    return op::done;
  }
  ec = got == 0 ? error_code(asio::error::eof) : error_code();
  n = static_cast<std::size_t>(got);
  for (auto* c = tells_rest_ ? CMSG_FIRSTHDR(&message) : nullptr; c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != IPPROTO_TCP || c->cmsg_type != TCP_CM_INQ) continue;
    int left = 1;
    std::memcpy(&left, CMSG_DATA(c), sizeof left);
    drained_ = got > 0 && left == 0;
  }
  return drained_ ? op::done_and_exhausted : op::done;
}

bool edge_socket::nothing_to_read() {
  char c = 0;
  const auto n = ::recv(native_handle(), &c, 1, MSG_PEEK | MSG_DONTWAIT);
  return n < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace idem::net
