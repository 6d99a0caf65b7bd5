#include "proxy/upstream_pool.hpp"

#include <poll.h>
#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <array>

#include "idem/net/coarse_clock.hpp"
#include "idem/net/tls.hpp"

namespace idem::proxy {

namespace asio = net::asio;
using namespace std::chrono_literals;

namespace {
/// Heads of answers may be as large as those of requests at most.
constexpr http::head_limits answer_limits{60 * 1024, 1000, 8 * 1024};
/// How long a look at a connection is good for, and how many it takes in.
constexpr auto look_holds = 100us;
constexpr std::size_t most_looked_at = 16;

bool same_place(const config::endpoint& a, const config::endpoint& b) {
  return a.host == b.host && a.port == b.port && a.unix_path == b.unix_path;
}
}  // namespace

upstream_connection::upstream_connection(net::stream s) : stream(std::move(s)), parser(answer_limits) {}

upstream_pool::upstream_pool(asio::io_context& io, net::deadline_wheel& wheel, const config::upstream_config& settings,
                             std::shared_ptr<asio::ssl::context> tls, telemetry::worker_block& metrics,
                             const upstream_pool* before)
    : io_(io),
      wheel_(wheel),
      settings_(settings),
      tls_(std::move(tls)),
      metrics_(metrics),
      sweeper_(wheel, [this] { sweep(); }),
      names_(std::make_shared<resolution>(io)) {
  idle_.reserve(settings_.keep_alive_max_idle);
  const auto& a = settings_.address;
  if (before && same_place(before->settings_.address, a)) {
    names_ = before->names_;  // a look-up now could fail, or take long
  } else if (a.is_unix()) {
    names_->found = {asio::local::stream_protocol::endpoint(a.unix_path)};
  } else {
    boost::system::error_code ec;
    const auto literal = asio::ip::make_address(a.host, ec);
    if (!ec) names_->found = {asio::ip::tcp::endpoint(literal, a.port)};
  }
  if (!names_->found.empty()) names_->at = std::chrono::steady_clock::time_point::max();
}

// --------------------------------------------------------------------------------------------------------------- idle

upstream_ptr upstream_pool::take_idle(reuse how) {
  while (!idle_.empty()) {
    if (how == reuse::peeked) look_at_last();
    auto c = std::move(idle_.back());
    idle_.pop_back();
    metrics_.upstream_idle.fetch_sub(1, std::memory_order_relaxed);
    if (c->stream.disturbed() || c->disturbed) continue;
    c->stream.end_watch();
    metrics_.upstream_reuses.fetch_add(1, std::memory_order_relaxed);
    c->reused = true;
    return c;
  }
  return nullptr;
}

/// Asks the kernel for the connection that is next, unless it has just answered for it. A reply of the store brings
/// many requests to the point where they need a connection, so that one call asks for as many as the last one was good
/// for, and as many again.
void upstream_pool::look_at_last() {
  const auto now = std::chrono::steady_clock::now();
  if (now - idle_.back()->looked_at < look_holds) {
    ++looks_used_;
    return;
  }
  std::array<pollfd, most_looked_at> looks;
  const auto count = std::min({2 * std::exchange(looks_used_, 1), looks.size(), idle_.size()});
  const auto first = idle_.end() - static_cast<std::ptrdiff_t>(count);
  for (std::size_t i = 0; i < count; ++i) looks[i] = {first[i]->stream.lowest().native_handle(), POLLIN | POLLRDHUP, 0};
  int answered = 0;
  do answered = ::poll(looks.data(), count, 0);
  while (answered < 0 && errno == EINTR);
  for (std::size_t i = 0; i < count; ++i) {
    first[i]->looked_at = now;
    // no answer is none that could be relied on
    first[i]->disturbed = answered < 0 || looks[i].fd < 0 || looks[i].revents != 0;
  }
}

void upstream_pool::give_back(upstream_ptr c) {
  if (idle_.size() >= settings_.keep_alive_max_idle) return;
  c->looked_at = {};
  c->disturbed = false;
  c->idle_since = net::coarse_now();
  c->parser.reset();
  c->stream.watch([pool = weak_from_this(), which = c.get()](const net::error_code& ec) {
    if (ec) return;
    if (const auto self = pool.lock()) self->leave(which);
  });
  idle_.push_back(std::move(c));
  metrics_.upstream_idle.fetch_add(1, std::memory_order_relaxed);
  if (!sweeper_.armed()) sweeper_.after(settings_.keep_alive_idle);
}

/// The backend has ended the connection, or said something that nobody asked for.
void upstream_pool::leave(const upstream_connection* c) {
  const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& i) { return i.get() == c; });
  if (found == idle_.end()) return;  // it was taken, and found disturbed, before this was told
  idle_.erase(found);
  metrics_.upstream_idle.fetch_sub(1, std::memory_order_relaxed);
}

/// The oldest stand in front, since the last in is the first out.
void upstream_pool::sweep() {
  const auto limit = std::chrono::steady_clock::now() - settings_.keep_alive_idle;
  const auto keep = std::find_if(idle_.begin(), idle_.end(), [&](const auto& c) { return c->idle_since > limit; });
  metrics_.upstream_idle.fetch_sub(keep - idle_.begin(), std::memory_order_relaxed);
  idle_.erase(idle_.begin(), keep);
  if (!idle_.empty()) sweeper_.at(idle_.front()->idle_since + settings_.keep_alive_idle);
}

void upstream_pool::close_idle() {
  metrics_.upstream_idle.fetch_sub(static_cast<std::int64_t>(idle_.size()), std::memory_order_relaxed);
  idle_.clear();
}

// -------------------------------------------------------------------------------------------------------------- names

bool upstream_pool::resolved_recently() const {
  const auto now = std::chrono::steady_clock::now();
  return !names_->found.empty() && (names_->at > now || now - names_->at < 30s);
}

void upstream_pool::resolve() {
  if (names_->running) return;
  names_->running = true;
  names_->lookup.start(settings_.address.host, settings_.address.port,
                       [names = names_.get()](const net::error_code& ec, const auto& addresses) {
                         names->running = false;
                         if (!ec && !addresses.empty()) {
                           names->found.assign(addresses.begin(), addresses.end());
                           names->at = std::chrono::steady_clock::now();
                         }
                         for (auto* waiter : std::exchange(names->waiting, {})) waiter->set();
                       });
}

/// @param wake set by the look-up, or by whoever watches the time (then `late` is true)
net::task<bool> upstream_pool::addresses(const bool& late, net::event& wake) {
  if (resolved_recently()) co_return true;
  resolve();
  if (!names_->found.empty()) co_return true;  // the old addresses will do until the new ones are there
  auto names = names_;
  names->waiting.push_back(&wake);
  if (!wake.is_set()) co_await wake.wait();
  std::erase(names->waiting, &wake);
  co_return !late && !names->found.empty();
}

// ------------------------------------------------------------------------------------------------------------ connect

net::task<upstream_pool::outcome> upstream_pool::connect() {
  bool late = false;
  net::event wake;
  net::socket* current = nullptr;
  net::deadline limit(wheel_, [&] {
    late = true;
    if (current) {
      net::error_code ignored;
      current->close(ignored);
    }
    wake.set();
  });
  const auto until = net::deadline::clock::now() + settings_.connect_timeout;
  limit.after(settings_.connect_timeout);
  const bool known = co_await addresses(late, wake);
  if (!known) co_return outcome{nullptr, late ? fault::upstream_connect_late : fault::upstream_resolve};

  fault why = fault::upstream_connect;  // of several, what came furthest
  const auto candidates = names_->found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - net::deadline::clock::now());
    late = left <= 0ms;
    if (late) break;
    limit.after(left / static_cast<std::int64_t>(candidates.size() - i));  // a silent one leaves time for the others
    net::stream s{net::socket(io_)};
    current = &s.lowest();
    const fault opened = co_await open(s, candidates[i], late);
    current = nullptr;
    if (!late && opened == fault::none) {
      begin_with(candidates[i]);
      metrics_.upstream_connects.fetch_add(1, std::memory_order_relaxed);
      co_return outcome{std::make_unique<upstream_connection>(std::move(s)), fault::none};
    }
    why = std::max(why, late ? fault::upstream_connect_late : opened);
  }
  // an address that does not answer may be an old one
  if (names_->at != std::chrono::steady_clock::time_point::max()) names_->at = {};
  co_return outcome{nullptr, late ? std::max(why, fault::upstream_connect_late) : why};
}

/// Who has answered is asked first, until the name is looked up again.
void upstream_pool::begin_with(const endpoint& address) {
  auto& all = names_->found;
  const auto at = std::find(all.begin(), all.end(), address);
  if (at != all.end()) std::rotate(all.begin(), at, all.end());
}

net::task<fault> upstream_pool::open(net::stream& s, const endpoint& address, const bool& late) {
  net::error_code ec;
  s.lowest().open(address.protocol(), ec);
  if (ec) co_return fault::upstream_connect;
  const bool reached = co_await reach(s.lowest(), address, late);
  if (!reached || late) co_return fault::upstream_connect;
  if (!settings_.address.is_unix()) s.lowest().set_option(asio::ip::tcp::no_delay(true), ec);
  co_return settings_.tls.enabled ? co_await handshake(s) : fault::none;
}

/// A unix socket is connected at once or not at all. EAGAIN says that the backlog is full; Asio takes it for a
/// connection that is being made, and then for one that is there.
net::task<bool> upstream_pool::reach(net::socket& s, const endpoint& address, const bool& late) {
  net::error_code ec;
  if (!settings_.address.is_unix()) {
    auto [failed] = co_await s.async_connect(address, net::as_result);
    if (!failed && !late) s.non_blocking(true, ec);
    co_return !failed;
  }
  s.non_blocking(true, ec);
  while (::connect(s.native_handle(), address.data(), static_cast<socklen_t>(address.size())) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) co_return false;
    net::timer soon(io_, 20ms);
    co_await soon.async_wait(net::as_result);
    if (late) co_return false;
  }
  co_return true;
}

net::task<fault> upstream_pool::handshake(net::stream& s) {
  auto& tls = s.start_tls(*tls_);
  net::expect_server(tls, settings_.tls.server_name.empty() ? settings_.address.host : settings_.tls.server_name,
                     settings_.tls.verify);
  auto [ec] = co_await tls.async_handshake(asio::ssl::stream_base::client, net::as_result);
  co_return ec ? fault::upstream_tls : fault::none;
}

}  // namespace idem::proxy
