#include "store/redis/connection.hpp"

namespace idem::store::redis {

connection::connection(net::asio::io_context& io, const config::redis_config& settings,
                       std::shared_ptr<tls_context> tls, purpose what_for, connection_user& user)
    : io_(io),
      settings_(settings),
      tls_(std::move(tls)),
      purpose_(what_for),
      user_(&user),
      timer_(io.get_executor()),
      random_(std::random_device{}()) {}

void connection::open() {
  if (policy_.where() == link_policy::phase::resting) connect();
}

link_policy::admission connection::admit(std::chrono::steady_clock::time_point now,
                                         std::chrono::steady_clock::time_point elsewhere) {
  const auto a = policy_.admit(now, elsewhere);
  if (a != link_policy::admission::connect) return a;
  connect();
  return link_policy::admission::wait;
}

void connection::connect() {
  policy_.connecting();
  unsaid_.clear();
  reader_ = std::make_unique<resp_reader>();
  handshake_ = std::make_unique<handshake>(settings_, current_password(settings_), purpose_ == purpose::commands);
  link_ = std::make_shared<link>(io_, settings_, tls_, static_cast<link_user&>(*this));
  after(settings_.connect_timeout, &connection::give_up);
  link_->start();
}

void connection::on_open() {
  handshake_->begin(unsaid_);
  say();
}

void connection::say() {
  if (!unsaid_.empty() && !link_->writing()) link_->write(unsaid_);
}

void connection::on_bytes(std::string_view bytes) {
  const auto self = shared_from_this();
  const auto current = link_;
  reader_->feed(bytes);
  while (link_ == current) {
    const auto r = reader_->next(reply_);
    if (r == resp_reader::result::need_more) return;
    if (r == resp_reader::result::broken || !handle(std::move(reply_))) {
      if (link_ == current) drop("the answer is not Redis' protocol");
      return;
    }
  }
}

// False: the reply was not expected.
bool connection::handle(resp_value&& v) {
  if (!handshake_) return user_->on_reply(std::move(v));
  switch (handshake_->on_reply(v, unsaid_)) {
    case handshake::state::going_on: say(); return true;
    case handshake::state::failed: drop(handshake_->reason()); return true;
    case handshake::state::ready: break;
  }
  const auto how = handshake_->how();
  handshake_.reset();
  stop_timer();
  policy_.ready();
  user_->on_ready(how);
  return true;
}

void connection::on_written() {
  const auto self = shared_from_this();
  if (handshake_) return say();
  if (ready()) user_->on_writable();
}

void connection::on_closed(std::string_view reason) { lost(reason); }

void connection::drop(std::string_view reason) {
  if (!link_) return;
  link_->detach();
  lost(reason);
}

void connection::drop_denied(std::string_view reason) {
  policy_.denied(std::chrono::steady_clock::now());
  drop(reason);
}

// Connects again before the user hears of the loss, where that is due at once: what it submits again may then wait.
void connection::lost(std::string_view reason) {
  const auto self = shared_from_this();
  const std::string kept(reason);
  link_.reset();
  const auto rest = policy_.lost(std::chrono::steady_clock::now(), chance());
  if (rest.count() == 0)
    connect();
  else
    after(rest, &connection::open);
  if (user_) user_->on_lost(kept);
}

void connection::close() {
  policy_.close();
  user_ = nullptr;
  stop_timer();
  if (link_) link_->detach();
  link_.reset();
}

void connection::stop_timer() {
  ++turn_;
  timer_.cancel();
}

void connection::after(std::chrono::milliseconds delay, void (connection::*what)()) {
  timer_.expires_after(delay);
  // an expiry that was queued already when the timer was set anew or stopped must not be taken for a new one
  timer_.async_wait([weak = weak_from_this(), what, turn = ++turn_](net::error_code ec) {
    const auto self = weak.lock();
    if (!ec && self && self->turn_ == turn) ((*self).*what)();
  });
}

double connection::chance() { return std::uniform_real_distribution<double>(0, 1)(random_); }

}  // namespace idem::store::redis
