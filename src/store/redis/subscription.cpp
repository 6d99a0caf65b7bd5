#include "store/redis/subscription.hpp"

#include <boost/asio/post.hpp>

#include "store/redis/resp_writer.hpp"
#include "store/shard.hpp"

namespace idem::store::redis {

subscription::subscription(net::asio::io_context& io, std::shared_ptr<shared_parts> parts, change_listener listener)
    : io_(io),
      parts_(std::move(parts)),
      listener_(std::move(listener)),
      connection_(std::make_shared<connection>(io, parts_->settings, parts_->tls, connection::purpose::listening,
                                               static_cast<connection_user&>(*this))) {}

void subscription::stop() {
  net::asio::post(io_.get_executor(), [self = shared_from_this()] { self->connection_->close(); });
}

void subscription::on_ready(dialect) {
  confirmed_ = 0;
  outgoing_.clear();
  for (const char digit : shard_digits)
    append_command(outgoing_, {"SUBSCRIBE", wake_channel(parts_->settings.key_prefix, digit)});
  on_writable();
}

void subscription::on_writable() {
  if (!outgoing_.empty() && connection_->writable()) connection_->write(outgoing_);
}

bool subscription::on_reply(resp_value&& v) {
  const auto self = shared_from_this();
  if (v.is(resp_type::error)) {
    connection_->drop("the channels are refused");
    return true;
  }
  if (!v.is(resp_type::array) || v.items.size() != 3) return false;
  if (v.items[0].text == "message") {
    if (confirmed_ == shard_digits.size() && !v.items[2].text.empty()) listener_(v.items[2].text);
    return true;
  }
  if (v.items[0].text != "subscribe") return false;
  if (++confirmed_ < shard_digits.size()) return true;
  connection_->proved();
  if (std::exchange(counted_down_, false)) parts_->subscription_outages.up();
  listener_({});
  return true;
}

void subscription::on_lost(std::string_view reason) {
  if (!std::exchange(counted_down_, true)) parts_->subscription_outages.down(reason);
}

}  // namespace idem::store::redis
