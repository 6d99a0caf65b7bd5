#include "proxy/client_sender.hpp"

#include <new>

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
  c_.write_limit.after(c_.runtime->config->server.timeouts.body_idle);
  try {
    write();
  } catch (const std::bad_alloc&) {
    // nothing is under way, and nobody could be told: the client gets no more
    abort();
    c_.write_limit.clear();
    drained_.set();
  }
}

void client_sender::write() {
  // The owner waits for drained() before it ends, so that `this` outlives the handler.
  c_.stream.write_some(net::asio::buffer(active_.data() + offset_, active_.size() - offset_),
                       [this](const net::error_code& ec, std::size_t n) {
                         writing_ = false;
                         offset_ += n;
                         if (ec) c_.gone = true;
                         pump();
                       });
  writing_ = true;  // the handler is never called from inside
}

void client_sender::abort() {
  c_.gone = true;
  c_.stream.abort();
}

}  // namespace idem::proxy
