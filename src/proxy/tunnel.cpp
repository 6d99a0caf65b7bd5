#include "proxy/tunnel.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <string>

#include "idem/net/event.hpp"

namespace idem::proxy {

namespace asio = net::asio;

namespace {

net::task<bool> write_all(net::stream& to, std::string_view bytes) {
  while (!bytes.empty()) {
    auto [ec, n] = co_await to.write_some(asio::buffer(bytes.data(), bytes.size()));
    if (ec) co_return false;
    bytes.remove_prefix(n);
  }
  co_return true;
}

/// One direction. A clean end of `from` becomes a half-close of `to`; a failure ends both.
net::task<void> copy(net::buffer_pool& buffers, net::stream& from, net::stream& to, std::string first,
                     net::event& done) {
  auto buffer = buffers.take();
  bool ok = co_await write_all(to, first);
  while (ok) {
    auto [ec, n] = co_await from.read_some(asio::buffer(buffer.get(), net::buffer_pool::size));
    if (ec == asio::error::eof) break;
    ok = !ec && co_await write_all(to, std::string_view(buffer.get(), n));
  }
  net::error_code ignored;
  if (ok) {
    to.lowest().shutdown(asio::socket_base::shutdown_send, ignored);
  } else {
    from.close();
    to.close();
  }
  done.set();
}

}  // namespace

net::task<void> run_tunnel(client_connection& c, upstream_exchange& up) {
  auto& backend = up.connection()->stream;
  net::event down, upward;
  std::string early_up(c.in.view());
  std::string early_down(up.surplus());
  c.in.consume(c.in.view().size());
  asio::co_spawn(c.w.io.get_executor(), copy(c.w.buffers, c.stream, backend, std::move(early_up), upward),
                 asio::detached);
  co_await copy(c.w.buffers, backend, c.stream, std::move(early_down), down);
  if (!upward.is_set()) co_await upward.wait();
}

}  // namespace idem::proxy
