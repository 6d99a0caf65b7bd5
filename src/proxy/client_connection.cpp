#include "proxy/client_connection.hpp"

#include <algorithm>

#include "idem/http/writer.hpp"
#include "proxy/proxy_protocol.hpp"
#include "proxy/tls.hpp"

namespace idem::proxy {

using namespace std::chrono_literals;
using http::parse_result;
using idempotency::problem;
using idempotency::problem_code;
using telemetry::decision;

namespace {
/// Of the memory for answers, what a connection keeps from one request to the next.
constexpr std::size_t most_kept = 64 * 1024;
/// Requests of one connection, before the others of its thread have a turn.
constexpr unsigned most_in_a_row = 8;
}  // namespace

client_connection::client_connection(worker& worker, net::stream s, std::string peer)
    : w(worker),
      runtime(worker.current),
      stream(std::move(s)),
      in(worker.buffers),
      write_limit(worker.wheel),
      read_limit_(worker.wheel),
      peer_(std::move(peer)) {
  self_ = w.connections.insert(w.connections.end(), this);
  w.shared.connections.fetch_add(1, std::memory_order_relaxed);
  w.shared.unfinished.begin();
  w.metrics.connections.fetch_add(1, std::memory_order_relaxed);
  read_limit_.action([this] {
    timed_out_ = true;
    stream.cancel();
  });
  write_limit.action([this] {
    gone = true;
    stream.cancel();
  });
}

client_connection::~client_connection() {
  w.connections.erase(self_);
  w.shared.connections.fetch_sub(1, std::memory_order_relaxed);
  w.metrics.connections.fetch_sub(1, std::memory_order_relaxed);
  w.shared.unfinished.end();
}

void client_connection::begin_drain() {
  // bytes that the kernel has already belong to a request that was sent before the drain began
  if (idle_ && stream.quiet()) stream.cancel();
}

void client_connection::break_off() {
  broken_off_ = true;
  if (on_break) return on_break();
  if (write_limit.armed()) return stream.abort();  // an answer that will not become whole
  stream.close();
}

// ----------------------------------------------------------------------------------------------------------- the life

net::task<void> client_connection::run() {
  after how = after::close;
  if (runtime->config->server.proxy_protocol != config::proxy_protocol_policy::off && !co_await read_peer()) co_return;
  if (runtime->server_tls && !co_await accept_tls()) co_return;
  for (;;) {
    take_configuration();
    parser.reset();
    const auto head = co_await read_head();
    if (head == head_result::rejected) {
      co_await reject(parser.why());
      co_return;
    }
    if (head == head_result::late) {
      start_log();
      forget_request();
      log.what = decision::timed_out;
      how = co_await answer(problem(problem_code::request_timeout), after::close);
      end_log();
      break;
    }
    if (head == head_result::ended) {
      co_await end_idle();
      co_return;
    }
    if (head == head_result::drains) break;
    first_ = false;
    how = co_await serve();
    // a large answer was copied into it; what the client does with the connection next, and when, nobody knows
    if (out.capacity() > most_kept) std::string().swap(out);  // an assignment would keep the room
    if (how != after::keep || broken_off_) break;
    in.release_if_empty();
    if (!in.empty()) co_await give_way();
    if (broken_off_) break;
  }
  co_await finish(how);
}

/// Hundreds of requests can come in one read, and nothing waits where neither store nor backend is asked.
net::task<void> client_connection::give_way() {
  if (++in_a_row_ < most_in_a_row) co_return;
  in_a_row_ = 0;
  co_await net::asio::post(w.io.get_executor(), net::as_result);
}

/// A request goes by the configuration that holds when its first byte comes, however long the connection was idle
/// before.
void client_connection::take_configuration() {
  if (runtime != w.current) runtime = w.current;
  const auto& s = runtime->config->server;
  parser.limits({s.header_limit, s.header_fields, s.uri_limit});
}

net::task<client_connection::head_result> client_connection::read_head() {
  const auto limits = [this]() -> const config::server_config& { return runtime->config->server; };
  timed_out_ = false;
  auto result = in.empty() ? parse_result::need_more : parser.parse(in.view());
  bool started = !in.empty() && parser.started(in.view());
  if (result == parse_result::need_more) {
    if (w.draining() && !started && !first_) co_return head_result::drains;
    const auto& t = limits().timeouts;
    read_limit_.after(started || first_ ? t.header : t.keep_alive);
  }
  while (result == parse_result::need_more) {
    if (in.full()) in.grow(limits().header_limit + 1024);
    idle_ = !started;
    const auto room = in.room(in.empty());
    auto [ec, n] = co_await (started ? stream.read_some(room) : stream.read_first(room));
    idle_ = false;
    if (timed_out_) co_return started ? head_result::late : head_result::ended;
    if (ec) co_return head_result::ended;
    in.commit(n);
    if (!started) take_configuration();
    result = parser.parse(in.view());
    if (!started && parser.started(in.view())) {
      started = true;
      if (result == parse_result::need_more) read_limit_.after(limits().timeouts.header);
    }
  }
  read_limit_.clear();
  co_return result == parse_result::complete ? head_result::complete : head_result::rejected;
}

net::task<after> client_connection::serve() {
  const auto& head = parser.head();
  config::path_captures captures;
  route = runtime->find(runtime->config->find(head.method, head.authority, head.path, captures));
  facts = {head.method == "HEAD",
           head.keep_alive,
           head.expect_continue,
           head.upgrade,
           head.minor,
           head.method == "DELETE",
           head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS",
           route ? route->cors.answering(head) : std::string_view{}};
  gone = false;
  start_log();
  const auto how = co_await run_exchange(*this, captures);
  on_break = nullptr;
  end_log();
  co_return how == after::keep && (must_close() || gone) ? after::close : how;
}

/// Nothing of a head that was refused or did not come counts but whether its answer may have content (RFC 9110 §9.3.2).
void client_connection::forget_request() {
  facts = {};
  facts.head_method = parser.is_head(in.view());
}

net::task<void> client_connection::reject(const http::rejection& why) {
  start_log();
  forget_request();
  problem p(why.status == 414 || why.status == 431 ? problem_code::head_too_large : problem_code::malformed_request);
  p.status = why.status;
  p.detail = why.reason;
  log.what = decision::malformed;
  log.reason = why.reason;
  const auto how = co_await answer(std::move(p), after::close);
  end_log();
  co_await finish(how);
}

// ------------------------------------------------------------------------------------------------------------ writing

std::size_t client_connection::write_now(std::string_view bytes) {
  if (gone) return bytes.size();
  net::error_code ec;
  const auto n = stream.send_now(bytes, ec);
  if (ec && ec != net::asio::error::would_block) gone = true;
  return n;
}

net::task<bool> client_connection::write(std::string_view bytes) {
  bytes.remove_prefix(std::min(bytes.size(), write_now(bytes)));
  while (!bytes.empty() && !gone) {
    write_limit.after(runtime->config->server.timeouts.body_idle);
    auto [ec, n] = co_await stream.write_some(net::asio::buffer(bytes.data(), bytes.size()));
    if (ec) gone = true;
    bytes.remove_prefix(n);
  }
  write_limit.clear();
  co_return !gone;
}

net::task<after> client_connection::answer(problem p, after then) {
  if (then == after::keep && must_close()) then = after::close;
  p.close = then != after::keep;
  out.clear();
  log.bytes_out = idempotency::append_problem_response(out, p, keep_alive_10(), facts.head_method, facts.cors);
  log.status = p.status;
  if (!co_await write(out)) co_return after::close;
  co_return then;
}

// ------------------------------------------------------------------------------------------------------------- ending

net::task<void> client_connection::finish(after how) {
  if (!stream.is_open()) co_return;
  if (how == after::abort || gone) {
    stream.abort();
    co_return;
  }
  // the process ends and cannot wait, but what was answered is whole
  if (broken_off_) co_return stream.close();
  co_await end_tls();
  co_await linger();
  stream.close();
}

/// Nothing is under way: no answer can be lost, and nobody is waited for.
net::task<void> client_connection::end_idle() {
  if (!stream.is_open()) co_return;
  co_await end_tls();
  stream.close();
}

net::task<void> client_connection::end_tls() {
  auto* tls = stream.tls();
  if (!tls) co_return;
  timed_out_ = false;
  read_limit_.after(1s);
  co_await tls->async_shutdown(net::as_result);
  read_limit_.clear();
}

/// Bytes that are unread when a connection closes, or that come after it, are answered with RST, and the client loses
/// what it has not read yet of the answer (RFC 9112 §9.6). So the sending side ends first, and the rest when the client
/// has closed, too.
net::task<void> client_connection::linger() {
  net::error_code ec;
  stream.lowest().shutdown(net::asio::socket_base::shutdown_send, ec);
  if (ec) co_return;
  timed_out_ = false;
  // By time and not by size: a client that sends a large body before it reads would lose the answer at any limit of
  // bytes.
  const auto until = std::chrono::steady_clock::now() + 10s;
  in.consume(in.view().size());
  in.release_if_empty();  // most clients say nothing more: while one does not, it holds no buffer
  while (!timed_out_ && std::chrono::steady_clock::now() < until) {
    read_limit_.after(2s);
    auto [failed, n] = co_await stream.read_raw(in.room(in.empty()));
    if (failed) break;
    in.commit(n);
    in.consume(n);
  }
  read_limit_.clear();
}

/// Reads nothing. A drain does not wait for who has said nothing.
net::task<bool> client_connection::hear_first() {
  read_limit_.after(runtime->config->server.timeouts.header);
  idle_ = true;
  auto [ec] = co_await stream.lowest().async_wait(net::socket::wait_read, net::as_result);
  idle_ = false;
  co_return !ec;
}

net::task<bool> client_connection::read_peer() {
  const bool named = co_await hear_first() && co_await read_proxy_header(stream, peer_);
  read_limit_.clear();
  co_return named;
}

net::task<bool> client_connection::accept_tls() {
  if (!co_await hear_first()) co_return false;
  auto context = runtime->server_tls;
  auto& tls = stream.start_tls(*context);
  timed_out_ = false;
  auto [ec] = co_await tls.async_handshake(net::asio::ssl::stream_base::server, net::as_result);
  read_limit_.clear();
  if (ec) stream.close();
  if (!ec) client_subject = subject_of_peer(tls.native_handle());
  co_return !ec;
}

// ------------------------------------------------------------------------------------------------------------- the log

void client_connection::start_log() {
  log.begin(route ? *route->metrics : *runtime->unrouted, peer_);
  if (!log.has_line()) return;
  const auto& head = parser.head();
  log.method = head.method.substr(0, 32);
  if (route) {
    log.route = route->route->name;
  } else {
    log.path = head.path.substr(0, 256);
  }
}

void client_connection::end_log() {
  log.end();
  route = nullptr;
}

}  // namespace idem::proxy
