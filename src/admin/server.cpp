#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>

#include <list>
#include <optional>

#include "admin/address.hpp"
#include "admin/table.hpp"
#include "idem/admin/admin.hpp"
#include "idem/net/socket_file.hpp"
#include "idem/telemetry/log.hpp"

namespace idem::admin {

namespace asio = net::asio;
namespace http = boost::beast::http;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t head_limit = 8 * 1024;
constexpr std::size_t body_limit = 16 * 1024;
constexpr std::size_t connection_limit = 32;
constexpr auto connection_time = 5s;
constexpr auto accept_pause = 100ms;

constexpr auto tuple = net::as_result;

struct connection {
  explicit connection(net::socket s) : socket(std::move(s)), deadline(socket.get_executor()) {}

  net::socket socket;
  net::timer deadline;
  bool closed = false;

  void close() {
    closed = true;
    net::error_code ignored;
    socket.close(ignored);
    deadline.cancel();
  }
};

using connection_ptr = std::shared_ptr<connection>;

/// The answer to what could not be read as a request; status 0 = none, the connection is of no use.
answer refusal_for(net::error_code ec) {
  if (ec == http::error::header_limit || ec == http::error::buffer_overflow) return {431, "head too large\n"};
  if (ec == http::error::body_limit) return {413, "body too large\n"};
  const bool of_http = ec.category() == http::make_error_code(http::error::bad_method).category();
  if (of_http && ec != http::error::end_of_stream && ec != http::error::partial_message) return {400, "bad request\n"};
  return {0, {}};
}

}  // namespace

class admin_server::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(asio::io_context& io, const config::endpoint& address)
      : executor_(io.get_executor()), address_(address), acceptor_(executor_), pause_(executor_) {}

  table& endpoints() { return table_; }
  net::error_code listen(std::string& message);
  void start();
  void close();
  std::uint16_t port() const;

 private:
  net::error_code bind(const stream_endpoint& at);
  net::task<void> accept();
  net::task<void> serve(connection_ptr c);
  net::task<void> exchange(connection_ptr c);
  net::task<void> linger(connection_ptr c);

  const net::executor executor_;
  const config::endpoint address_;
  net::acceptor acceptor_;
  net::timer pause_;
  table table_;
  std::list<connection_ptr> connections_;  // oldest first
  std::optional<net::socket_file> socket_file_;
  bool closed_ = false;
};

net::error_code admin_server::impl::bind(const stream_endpoint& at) {
  net::error_code ec;
  acceptor_.open(at.protocol(), ec);
  if (ec) return ec;
  if (address_.is_unix()) net::remove_left_over_socket(address_.unix_path);
  if (!address_.is_unix()) acceptor_.set_option(net::acceptor::reuse_address(true), ec);
  if (!ec) acceptor_.bind(at, ec);
  if (!ec && address_.is_unix()) socket_file_.emplace(address_.unix_path);
  if (!ec) acceptor_.listen(static_cast<int>(connection_limit) * 2, ec);
  net::error_code ignored;
  if (ec) socket_file_.reset(), acceptor_.close(ignored);
  return ec;
}

net::error_code admin_server::impl::listen(std::string& message) {
  net::error_code ec;
  for (const auto& at : resolve(address_, ec)) {
    ec = bind(at);
    if (!ec) break;
  }
  if (!ec && !acceptor_.is_open()) ec = asio::error::host_not_found;
  if (ec) message = "admin.listen: cannot listen on " + address_.text + ": " + ec.message();
  return ec;
}

void admin_server::impl::start() { net::spawn(executor_, net::keeping(shared_from_this(), accept())); }

void admin_server::impl::close() {
  if (std::exchange(closed_, true)) return;
  socket_file_.reset();  // before the socket is closed
  net::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  for (const auto& c : connections_) c->close();
}

std::uint16_t admin_server::impl::port() const {
  net::error_code ec;
  const auto at = acceptor_.local_endpoint(ec);
  if (ec || address_.is_unix()) return 0;
  // the port stands at the same place in both address families
  sockaddr_in head{};
  std::memcpy(&head, at.data(), sizeof head);
  return ntohs(head.sin_port);
}

net::task<void> admin_server::impl::accept() {
  while (!closed_) {
    net::socket peer(executor_);
    auto [ec] = co_await acceptor_.async_accept(peer, tuple);
    if (closed_) co_return;
    if (ec) {
      // out of descriptors, most likely: a busy loop would not give any back
      pause_.expires_after(accept_pause);
      co_await pause_.async_wait(tuple);
      continue;
    }
    auto c = std::make_shared<connection>(std::move(peer));
    if (connections_.size() >= connection_limit) {
      connections_.front()->close();
      connections_.pop_front();
    }
    connections_.push_back(c);
    net::spawn(executor_, net::keeping(shared_from_this(), serve(c)));
  }
}

net::task<void> admin_server::impl::serve(connection_ptr c) {
  c->deadline.expires_after(connection_time);
  c->deadline.async_wait([c](net::error_code ec) {
    if (!ec) c->close();
  });
  try {
    co_await exchange(c);
  } catch (const std::exception& e) {  // out of memory, at most; one connection must not be more than that
    telemetry::warn("admin connection failed", {{"error", std::string_view(e.what())}});
  }
  c->close();
  connections_.remove(c);
}

net::task<void> admin_server::impl::exchange(connection_ptr c) {
  boost::beast::flat_buffer buffer(head_limit + body_limit);
  http::request_parser<http::string_body> parser;
  parser.header_limit(head_limit);
  parser.body_limit(body_limit);
  auto [read_ec, read] = co_await http::async_read(c->socket, buffer, parser, tuple);
  http_response response;
  if (read_ec) {
    auto refusal = refusal_for(read_ec);
    if (refusal.status == 0) co_return;
    response = make_response(std::move(refusal));
  } else {
    if (closed_) co_return;  // whoever the hooks belong to may be gone
    net::error_code ec;
    const auto peer = c->socket.remote_endpoint(ec);
    response = table_.answer_to(parser.get(), !ec && is_local(peer));
  }
  http::response_serializer<http::string_body> serializer(response);
  net::error_code write_ec;
  if (parser.get().method() == http::verb::head) {
    auto [ec, n] = co_await http::async_write_header(c->socket, serializer, tuple);
    write_ec = ec;
  } else {
    auto [ec, n] = co_await http::async_write(c->socket, serializer, tuple);
    write_ec = ec;
  }
  if (!write_ec) co_await linger(c);
}

/// Reads until the peer has closed: closing with unread bytes would send a reset, which may destroy the answer on its
/// way (RFC 9112 section 9.6).
net::task<void> admin_server::impl::linger(connection_ptr c) {
  net::error_code ec;
  c->socket.shutdown(net::socket::shutdown_send, ec);
  std::array<char, 4096> scrap;
  for (std::size_t total = 0; !ec && total < 16 * body_limit;) {
    auto [read_ec, n] = co_await c->socket.async_read_some(asio::buffer(scrap), tuple);
    ec = read_ec;
    total += n;
  }
}

admin_server::admin_server(asio::io_context& io, const config::endpoint& address, admin_hooks hooks)
    : impl_(std::make_shared<impl>(io, address)) {
  add({"GET", "/livez", [](const request&) { return answer{200, "ok\n"}; }});
  add({"GET", "/readyz", [ready = std::move(hooks.ready)](const request&) {
         const auto now = ready();
         return answer{now.ready() ? 200u : 503u, now.text()};
       }});
  add({"GET", "/metrics", [metrics = std::move(hooks.metrics)](const request&) {
         return answer{200, metrics(), "text/plain; version=0.0.4; charset=utf-8"};
       }});
  add({"POST", "/drain", [drain = std::move(hooks.drain)](const request&) {
         drain();
         return answer{200, "draining\n"};
       }});
}

admin_server::~admin_server() { impl_->close(); }

void admin_server::add(handler row) { impl_->endpoints().add(std::move(row)); }
net::error_code admin_server::listen(std::string& message) { return impl_->listen(message); }
void admin_server::start() { impl_->start(); }
void admin_server::close() { impl_->close(); }
std::uint16_t admin_server::port() const { return impl_->port(); }

}  // namespace idem::admin
