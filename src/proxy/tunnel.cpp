#include "proxy/tunnel.hpp"

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <exception>
#include <string>

#include "idem/net/companion.hpp"
#include "idem/net/keep_alive.hpp"

namespace idem::proxy {

namespace asio = net::asio;
using namespace std::chrono_literals;

namespace {

net::task<bool> write_all(net::stream& to, std::string_view bytes) {
  while (!bytes.empty()) {
    auto [ec, n] = co_await to.write_some(asio::buffer(bytes.data(), bytes.size()));
    if (ec) co_return false;
    bytes.remove_prefix(n);
  }
  co_return true;
}

/// The record that ends the sending side of TLS (RFC 8446 §6.1); what the peer sends can still be read after it.
///
/// Asio's async_shutdown waits for the peer's own close_notify and fails on data that comes before it. So OpenSSL
/// writes the record into a buffer of ours for once.
std::string close_notify(SSL* connection) {
  auto* const usual = SSL_get_wbio(connection);
  auto* const record = BIO_new(BIO_s_mem());
  if (record == nullptr) return {};
  BIO_up_ref(usual);
  BIO_up_ref(record);
  SSL_set0_wbio(connection, record);
  SSL_shutdown(connection);
  SSL_set0_wbio(connection, usual);
  char* data = nullptr;
  const long size = BIO_get_mem_data(record, &data);
  std::string bytes(data, static_cast<std::size_t>(size > 0 ? size : 0));
  BIO_free(record);
  return bytes;
}

}  // namespace

net::task<bool> half_close(net::stream& to) {
  net::error_code ec;
  if (auto* tls = to.tls()) {
    const auto bytes = close_notify(tls->native_handle());
    for (std::string_view rest = bytes; !rest.empty();) {
      auto [failed, n] = co_await to.lowest().async_write_some(asio::buffer(rest.data(), rest.size()), net::as_result);
      if (failed) co_return false;
      rest.remove_prefix(n);
    }
    co_return !bytes.empty();
  }
  to.lowest().shutdown(asio::socket_base::shutdown_send, ec);
  co_return !ec;
}

namespace {

/// One direction. A clean end of `from` (on TLS: with close_notify) becomes a half-close of `to`. A failure ends both,
/// and neither end may take it for a clean one.
net::task<void> copy(net::buffer_pool& buffers, net::stream& from, net::stream& to, std::string first) {
  auto buffer = buffers.take();
  bool ok = co_await write_all(to, first);
  while (ok) {
    auto [ec, n] = co_await from.read_some(asio::buffer(buffer.get(), net::buffer_pool::size));
    if (ec == asio::error::eof) break;
    ok = !ec && co_await write_all(to, std::string_view(buffer.get(), n));
  }
  if (ok) ok = co_await half_close(to);
  if (!ok) {
    from.abort();
    to.abort();
  }
}

/// A 101 may come before the request's body has: the tunnel of the client begins behind it (RFC 9110 §7.8).
net::task<void> copy_upward(client_connection& c, net::stream& backend, net::task<bool> request) {
  if (!co_await request) {
    c.stream.abort();
    backend.abort();
    co_return;
  }
  std::string early(c.in.view());
  c.in.consume(early.size());
  co_await copy(c.w.buffers, c.stream, backend, std::move(early));
}

}  // namespace

net::task<void> run_tunnel(client_connection& c, upstream_exchange& up, net::task<bool> request) {
  auto& backend = up.connection()->stream;
  // It has no limit of time, so nothing else would tell of a peer that vanished.
  net::probe_when_silent(c.stream.lowest().native_handle(), 60s);
  net::probe_when_silent(backend.lowest().native_handle(), 60s);
  const auto cut = [&c, &backend] {
    c.stream.abort();
    backend.abort();
  };
  net::companion upward;
  std::exception_ptr thrown;
  try {
    std::string early_down(up.surplus());
    upward.start(c.w.io.get_executor(), copy_upward(c, backend, std::move(request)), cut);
    co_await copy(c.w.buffers, backend, c.stream, std::move(early_down));
  } catch (...) {
    thrown = std::current_exception();
    cut();
  }
  co_await upward.ended();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace idem::proxy
