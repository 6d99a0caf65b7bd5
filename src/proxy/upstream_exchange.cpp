#include "proxy/upstream_exchange.hpp"

#include <algorithm>

#include "idem/http/head.hpp"
#include "idem/telemetry/log.hpp"

namespace idem::proxy {

upstream_exchange::upstream_exchange(net::buffer_pool& buffers, std::shared_ptr<upstream_pool> pool)
    : buffers_(buffers), pool_(std::move(pool)), in_(buffers_) {}

net::task<fault> upstream_exchange::connect(reuse how) {
  connection_ = pool_->take_idle(how);
  if (connection_) co_return fault::none;
  co_return co_await connect_fresh();
}

net::task<fault> upstream_exchange::connect_fresh() {
  connection_.reset();
  write_failed_ = cut_ = false;
  auto made = co_await pool_->connect();
  connection_ = std::move(made.connection);
  if (closed_ && connection_) {
    connection_->stream.close();
    co_return fault::drained;
  }
  co_return made.why;
}

// ------------------------------------------------------------------------------------------------------------ sending

std::size_t upstream_exchange::send_now(std::string_view bytes) {
  net::error_code ec;
  const auto n = connection_->stream.send_now(bytes, ec);
  written_ |= n > 0;
  if (ec && ec != net::asio::error::would_block) write_fails(ec);
  return n;
}

/// The kernel tells of a reset once, to a read or to a write; the reads that follow see an orderly end. A backend that
/// had ended orderly before it reset the connection says so by EPIPE.
void upstream_exchange::write_fails(const net::error_code& ec) {
  write_failed_ = true;
  cut_ |= ec != net::asio::error::broken_pipe;
}

net::task<bool> upstream_exchange::send(std::string_view bytes) {
  while (!bytes.empty() && !write_failed_ && !closed_) {
    written_ = true;  // TLS gives no account of what has left, and a plain write may be under way
    auto [ec, n] = co_await connection_->stream.write_some(net::asio::buffer(bytes.data(), bytes.size()));
    if (ec) write_fails(ec);
    bytes.remove_prefix(n);
  }
  co_return bytes.empty();
}

// --------------------------------------------------------------------------------------------------------- the answer

fault upstream_exchange::end_of_reading() const {
  return answer_begun_ ? fault::upstream_cut : fault::upstream_no_answer;
}

net::task<fault> upstream_exchange::read_head(std::string_view method) {
  auto& parser = connection_->parser;
  for (;;) {
    const auto result = in_.empty() ? http::parse_result::need_more : parser.parse(in_.view(), method);
    if (result == http::parse_result::complete) co_return fault::none;
    if (result == http::parse_result::rejected) {
      telemetry::warn("the backend's answer is malformed", {{"why", parser.why().reason}});
      co_return fault::upstream_malformed;
    }
    if (in_.full()) in_.grow(parser.limits().header_bytes + 1024);
    if (closed_) co_return end_of_reading();
    auto& from = connection_->stream;
    auto [ec, n] = co_await (answer_begun_ ? from.read_some(in_.room()) : from.read_first(in_.room()));
    if (ec) co_return end_of_reading();
    in_.commit(n);
    answer_begun_ = true;
  }
}

void upstream_exchange::next_head() {
  in_.consume(connection_->parser.head_size());
  connection_->parser.reset();
}

void upstream_exchange::begin_body() {
  const auto& head = connection_->parser.head();
  keep_alive_ = head.keep_alive;
  body_.reset(head.body, head);
  in_.consume(connection_->parser.head_size());
  in_body_ = true;
}

bool upstream_exchange::whole_in_hand() const {
  const auto& parser = connection_->parser;
  http::body_decoder decoder(parser.head().body);
  auto left = in_.view().substr(parser.head_size());
  for (;;) {
    const auto step = decoder.feed(left);
    if (step.type != http::body_step::kind::data) return step.type == http::body_step::kind::done;
    left.remove_prefix(step.consumed);
  }
}

http::body_step upstream_exchange::next_piece() {
  auto step = body_.feed(in_.view());
  in_.consume(step.consumed);
  return step;
}

net::task<fault> upstream_exchange::read_more() {
  if (closed_) co_return fault::upstream_cut;
  auto [ec, n] = co_await connection_->stream.read_some(in_.room());
  if (!ec) {
    in_.commit(n);
    co_return fault::none;
  }
  keep_alive_ = false;
  // A clean end (on TLS: with close_notify, which no reset can feign) ends a body without a length; anything else cuts
  // it.
  const bool clean = ec == net::asio::error::eof && (!cut_ || connection_->stream.tls() != nullptr);
  if (clean && !closed_ && body_.finish()) co_return fault::none;
  co_return fault::upstream_cut;
}

// ------------------------------------------------------------------------------------------------------------- ending

void upstream_exchange::finish(bool request_whole) {
  if (!connection_) return;
  const bool answer_whole = in_body_ && body_.done() && keep_alive_;
  const bool nothing_else = in_.empty() && !connection_->stream.holds_unread();
  if (request_whole && answer_whole && nothing_else && !closed_ && !write_failed_) {
    pool_->give_back(std::move(connection_));
  }
  connection_.reset();
}

void upstream_exchange::close() {
  closed_ = true;
  if (connection_) connection_->stream.close();
}

}  // namespace idem::proxy
