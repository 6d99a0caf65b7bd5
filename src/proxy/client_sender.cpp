#include "proxy/client_sender.hpp"

namespace idem::proxy {

client_sender::client_sender(client_connection& c) : c_(c) {}

void client_sender::send(std::string_view bytes) {
  if (c_.gone) return;
  if (!writing_ && queued_.empty()) {
    bytes.remove_prefix(std::min(bytes.size(), c_.write_now(bytes)));
    if (bytes.empty() || c_.gone) return;
  }
  queued_ += bytes;
  if (!writing_) pump();
}

void client_sender::pump() {
  if (offset_ == active_.size()) {
    active_.clear();
    offset_ = 0;
    std::swap(active_, queued_);
  }
  if (active_.empty() || c_.gone) {
    c_.write_limit.clear();
    drained_.set();
    return;
  }
  writing_ = true;
  c_.write_limit.after(c_.runtime->config->server.timeouts.body_idle);
  // The owner waits for drained() before it ends, so that `this` outlives the handler.
  c_.stream.write_some(net::asio::buffer(active_.data() + offset_, active_.size() - offset_),
                       [this](const net::error_code& ec, std::size_t n) {
                         writing_ = false;
                         offset_ += n;
                         if (ec) c_.gone = true;
                         pump();
                       });
}

net::task<void> client_sender::drained() {
  while (writing_) {
    drained_.reset();
    co_await drained_.wait();
  }
}

void client_sender::abort() {
  c_.gone = true;
  c_.stream.abort();
}

}  // namespace idem::proxy
