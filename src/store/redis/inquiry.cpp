#include "store/redis/inquiry.hpp"

namespace idem::store::redis {
namespace {

// The handshake would end the connection, and only say that the server may evict records, not by which policy.
config::redis_config asking(config::redis_config settings) {
  settings.allow_eviction = true;
  return settings;
}

}  // namespace

inquiry::inquiry(const shared_parts& parts)
    : settings_(asking(parts.settings)),
      connection_(std::make_shared<connection>(io_, settings_, parts.tls, connection::purpose::commands,
                                               static_cast<connection_user&>(*this))) {}

inquiry::~inquiry() { connection_->close(); }

std::vector<resp_value> inquiry::ask(std::string commands, std::size_t replies) {
  if (lost_) return {};
  replies_.clear();
  expected_ = replies;
  outgoing_ = std::move(commands);
  if (!std::exchange(opened_, true)) connection_->open();
  on_writable();
  io_.restart();
  io_.run_for(settings_.connect_timeout + settings_.command_timeout);
  if (replies_.size() == expected_) return std::move(replies_);
  if (!std::exchange(lost_, true)) reason_ = "no answer in time";
  return {};
}

void inquiry::on_ready(dialect how) {
  how_ = how;
  on_writable();
}

bool inquiry::on_reply(resp_value&& v) {
  if (replies_.size() == expected_) return false;
  replies_.push_back(std::move(v));
  if (replies_.size() == expected_) io_.stop();
  return true;
}

void inquiry::on_writable() {
  if (!outgoing_.empty() && connection_->writable()) connection_->write(outgoing_);
}

// Also where a next try to connect is due: who asks wants to know now.
void inquiry::on_lost(std::string_view why) {
  lost_ = true;
  reason_ = why;
  io_.stop();
}

}  // namespace idem::store::redis
