#include "support/relay.hpp"

#include <boost/asio.hpp>

#include <atomic>
#include <future>
#include <list>
#include <optional>
#include <thread>
#include <vector>

namespace idem::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
constexpr auto awaiting = asio::as_tuple(asio::use_awaitable);

struct settings {
  std::atomic<std::int64_t> delay_ms{0};
  std::atomic<bool> swallow{false}, blackhole{false}, refuse{false};
  std::atomic<std::int64_t> down_left{-1};  // −1: no limit
  std::atomic<std::size_t> accepted{0}, up{0}, down{0};
};

void reset(tcp::socket& s) {
  error_code ignored;
  s.set_option(asio::socket_base::linger(true, 0), ignored);
  s.close(ignored);
}

struct pair : std::enable_shared_from_this<pair> {
  explicit pair(asio::io_context& io) : client(io), server(io) {}
  tcp::socket client, server;
  bool lost_bytes = false;

  void cut() {
    reset(client);
    reset(server);
  }
};

enum class direction { up, down };

asio::awaitable<void> pump(std::shared_ptr<pair> p, settings& s, direction d) {
  auto& from = d == direction::up ? p->client : p->server;
  auto& to = d == direction::up ? p->server : p->client;
  std::vector<char> piece(64 * 1024);
  asio::steady_timer timer(from.get_executor());
  for (;;) {
    auto [ec, n] = co_await from.async_read_some(asio::buffer(piece), awaiting);
    if (ec == asio::error::eof) {
      // an end is passed on as an end, unless nothing passes
      error_code ignored;
      if (!s.blackhole) to.shutdown(tcp::socket::shutdown_send, ignored);
      co_return;
    }
    if (ec) {
      p->cut();
      co_return;
    }
    if (const auto ms = s.delay_ms.load(); ms > 0) {
      timer.expires_after(std::chrono::milliseconds(ms));
      co_await timer.async_wait(awaiting);
    }
    if (s.blackhole) {
      p->lost_bytes = true;
      continue;
    }
    if (p->lost_bytes) {
      // TCP loses nothing from the middle: a reply must not be taken for that of a command that never arrived
      p->cut();
      co_return;
    }
    if (d == direction::down && s.swallow) continue;
    bool last = false;
    if (auto left = s.down_left.load(); d == direction::down && left >= 0) {
      last = static_cast<std::int64_t>(n) > left;
      n = std::min(n, static_cast<std::size_t>(left));
      s.down_left = left - static_cast<std::int64_t>(n);
    }
    auto [failed, written] = co_await asio::async_write(to, asio::buffer(piece.data(), n), awaiting);
    (d == direction::up ? s.up : s.down) += written;
    if (last) {
      s.down_left = -1;
      // an orderly end: a reset could overtake what was passed
      p->client.close(ec);
      p->server.close(ec);
    }
    if (failed) p->cut();
    if (failed || last) co_return;
  }
}

}  // namespace

struct relay::impl {
  explicit impl(std::uint16_t target_port)
      : target(asio::ip::address_v4::loopback(), target_port),
        acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    asio::co_spawn(io, accept(), asio::detached);
    thread = std::thread([this] { io.run(); });
  }
  ~impl() {
    io.stop();
    thread.join();
  }

  asio::awaitable<void> accept() {
    for (;;) {
      auto [ec, client] = co_await acceptor.async_accept(awaiting);
      if (ec) co_return;
      ++control.accepted;
      if (control.refuse) {
        reset(client);
        continue;
      }
      auto p = std::make_shared<pair>(io);
      p->client = std::move(client);
      asio::co_spawn(io, serve(std::move(p)), asio::detached);
    }
  }

  asio::awaitable<void> serve(std::shared_ptr<pair> p) {
    auto [ec] = co_await p->server.async_connect(target, awaiting);
    if (ec) {
      reset(p->client);
      co_return;
    }
    std::erase_if(open, [](const auto& w) { return w.expired(); });
    open.push_back(p);
    asio::co_spawn(io, pump(p, control, direction::up), asio::detached);
    asio::co_spawn(io, pump(p, control, direction::down), asio::detached);
  }

  void cut() {
    std::promise<void> done;
    asio::post(io, [&] {
      for (const auto& weak : open)
        if (auto p = weak.lock()) p->cut();
      open.clear();
      done.set_value();
    });
    done.get_future().wait();
  }

  asio::io_context io{1};
  tcp::endpoint target;
  tcp::acceptor acceptor;
  settings control;
  std::list<std::weak_ptr<pair>> open;
  std::thread thread;
};

relay::relay(std::uint16_t target_port) : impl_(std::make_unique<impl>(target_port)) {}
relay::~relay() = default;
std::uint16_t relay::port() const { return impl_->acceptor.local_endpoint().port(); }
void relay::delay(std::chrono::milliseconds time) { impl_->control.delay_ms = time.count(); }
void relay::swallow_replies(bool on) { impl_->control.swallow = on; }
void relay::blackhole(bool on) { impl_->control.blackhole = on; }
void relay::refuse(bool on) { impl_->control.refuse = on; }
void relay::cut() { impl_->cut(); }
void relay::cut_after_reply_bytes(std::size_t bytes) { impl_->control.down_left = static_cast<std::int64_t>(bytes); }
std::size_t relay::accepted() const { return impl_->control.accepted; }
std::size_t relay::bytes_up() const { return impl_->control.up; }
std::size_t relay::bytes_down() const { return impl_->control.down; }

}  // namespace idem::test
