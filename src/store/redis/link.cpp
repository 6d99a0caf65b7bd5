#include "store/redis/link.hpp"

#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "idem/net/keep_alive.hpp"

namespace idem::store::redis {
namespace {

namespace asio = net::asio;
using namespace std::chrono_literals;
using generic_endpoint = asio::generic::stream_protocol::endpoint;

constexpr auto awaiting = net::as_result;
constexpr std::size_t read_size = 64 * 1024;
constexpr std::size_t kept_output = 1024 * 1024;  // a larger buffer is given back after its write

// Small writes at once; and a peer that vanished while nothing was asked of it is found within half a minute: a
// subscription never asks.
void tune(net::socket& s) {
  const int on = 1;
  ::setsockopt(s.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  net::probe_when_silent(s.native_handle(), 15s);
}

std::string peer_name(const config::redis_config& settings) {
  return settings.tls_server_name.empty() ? settings.address.host : settings.tls_server_name;
}

}  // namespace

std::shared_ptr<tls_context> make_tls_context(const config::redis_config& settings) {
  if (!settings.tls) return nullptr;
  auto made = std::make_shared<tls_context>();
  net::error_code ec = net::trust(made->context, settings.tls_ca);
  if (ec) made->fault = "the CA file of the store's TLS cannot be used: " + ec.message();
  made->context.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, ec);
  return made;
}

link::link(asio::io_context& io, const config::redis_config& settings, std::shared_ptr<tls_context> tls,
           link_user& user)
    : io_(io),
      settings_(settings),
      tls_(std::move(tls)),
      user_(&user),
      socket_(net::socket(io.get_executor())),
      lookup_(io),
      looked_up_(io.get_executor()),
      share_(io.get_executor()) {}

void link::start() { net::spawn(io_.get_executor(), net::keeping(shared_from_this(), run())); }

net::task<void> link::run() {
  if (!user_) co_return;
  if (tls_ && !tls_->fault.empty()) {
    closed(tls_->fault);
    co_return;
  }
  auto ec = co_await connect();
  if (!ec && tls_) ec = co_await secure();
  if (ec || !user_) {
    closed(ec.message());
    co_return;
  }
  user_->on_open();
  co_await read();
}

net::task<net::error_code> link::connect() {
  const auto& to = settings_.address;
  if (to.is_unix()) {
    if (to.unix_path.size() >= sizeof(sockaddr_un{}.sun_path)) co_return asio::error::name_too_long;
    co_return co_await connect_to(asio::local::stream_protocol::endpoint(to.unix_path));
  }
  const auto until = std::chrono::steady_clock::now() + settings_.connect_timeout;
  net::error_code ec;
  // an address needs no look-up, which would start a thread
  const auto address = asio::ip::make_address(to.host, ec);
  if (!ec) co_return co_await connect_to(asio::ip::tcp::endpoint(address, to.port));

  net::name_lookup::addresses found;
  ec = co_await look_up(found);
  auto left = static_cast<std::int64_t>(found.size());
  for (const auto& candidate : found) {
    if (!user_) co_return asio::error::operation_aborted;
    ec = co_await connect_within(candidate, (until - std::chrono::steady_clock::now()) / left--);
    if (!ec) break;
  }
  co_return ec;
}

net::task<net::error_code> link::look_up(net::name_lookup::addresses& found) {
  net::error_code ec = asio::error::operation_aborted;
  looked_up_.expires_at(net::timer::time_point::max());
  lookup_.start(settings_.address.host, settings_.address.port,
                [this, &ec, &found](const net::error_code& failed, const net::name_lookup::addresses& addresses) {
                  ec = failed;
                  found = addresses;
                  looked_up_.cancel();
                });
  co_await looked_up_.async_wait(awaiting);
  lookup_.cancel();
  co_return ec;
}

/// An address that is silent leaves time for the others.
net::task<net::error_code> link::connect_within(generic_endpoint where, std::chrono::nanoseconds share) {
  share_.expires_after(share);
  share_.async_wait([weak = weak_from_this(), turn = ++turn_](net::error_code ec) {
    net::error_code ignored;
    const auto self = weak.lock();
    // an expiry that was queued already when the turn ended must not end the next one's
    if (!ec && self && self->turn_ == turn) self->socket_.close(ignored);
  });
  const auto ec = co_await connect_to(where);
  ++turn_;
  share_.cancel();
  co_return ec;
}

net::task<net::error_code> link::connect_to(generic_endpoint where) {
  net::error_code ec;
  socket_.close(ec);
  auto [result] = co_await socket_.async_connect(where, awaiting);
  if (!result) tune(socket_);
  co_return result;
}

net::task<net::error_code> link::secure() {
  secure_.emplace(socket_, tls_->context);
  net::expect_server(*secure_, peer_name(settings_), settings_.tls_verify);
  auto [result] = co_await secure_->async_handshake(asio::ssl::stream_base::client, awaiting);
  co_return result;
}

net::task<void> link::read() {
  incoming_.resize(read_size);
  const auto room = asio::buffer(incoming_);
  while (user_) {
    net::error_code ec;
    std::size_t n = 0;
    if (secure_)
      std::tie(ec, n) = co_await secure_->async_read_some(room, awaiting);
    else
      std::tie(ec, n) = co_await socket_.read(room, net::edge_socket::expect::message);
    if (n > 0 && user_) user_->on_bytes({incoming_.data(), n});
    if (ec) {
      closed(ec == asio::error::eof || ec == asio::ssl::error::stream_truncated ? "closed by the server"
                                                                                : ec.message());
      co_return;
    }
  }
}

/// True if nothing of it is left to be written.
bool link::write_now(std::string& bytes) {
  if (secure_) return false;
  const auto n = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR) {
    bytes.clear();
    end_after_failed_write();
    return true;
  }
  if (n > 0) bytes.erase(0, static_cast<std::size_t>(n));
  return bytes.empty();
}

/// The reader finds the end, after what the server still had to say; a reset that came with that makes no event of its
/// own.
void link::end_after_failed_write() {
  net::error_code ignored;
  socket_.shutdown(net::socket::shutdown_both, ignored);
}

void link::write(std::string& bytes) {
  const auto too_large = [](const std::string& s) { return s.capacity() > kept_output; };
  if (write_now(bytes)) {
    if (too_large(bytes)) std::string().swap(bytes);
    return;
  }
  outgoing_.clear();
  outgoing_.swap(bytes);
  writing_ = true;
  auto handler = [self = shared_from_this(), too_large](net::error_code ec, std::size_t) {
    self->writing_ = false;
    if (too_large(self->outgoing_)) std::string().swap(self->outgoing_);
    if (ec) {
      self->end_after_failed_write();
    } else if (self->user_) {
      self->user_->on_written();
    }
  };
  if (secure_)
    asio::async_write(*secure_, asio::buffer(outgoing_), std::move(handler));
  else
    asio::async_write(socket_, asio::buffer(outgoing_), std::move(handler));
}

void link::detach() {
  user_ = nullptr;
  net::error_code ignored;
  lookup_.cancel();
  looked_up_.cancel();
  socket_.close(ignored);
}

void link::closed(std::string_view reason) {
  auto* user = std::exchange(user_, nullptr);
  detach();
  if (user) user->on_closed(reason);
}

}  // namespace idem::store::redis
