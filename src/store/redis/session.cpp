#include "store/redis/session.hpp"

#include <boost/asio/post.hpp>

namespace idem::store::redis {
namespace {

using clock = std::chrono::steady_clock;

/// Writes of a single command in a row, after which the next is not expected to have company. Under load some writes
/// hold one command as well, but not so many in a row.
constexpr unsigned alone_for_a_while = 16;

/// A server may close what was idle for some seconds, and one that froze while nobody asked must not be found by a
/// request: after five looks without a byte sent between them the server is asked something.
constexpr std::chrono::seconds silence_interval{1};
constexpr unsigned silent_for_long = 5;

}  // namespace

session_core::session_core(net::asio::io_context& io, std::shared_ptr<shared_parts> parts)
    : io_(io),
      parts_(std::move(parts)),
      connection_(std::make_shared<connection>(io, parts_->settings, parts_->tls, connection::purpose::commands,
                                               static_cast<connection_user&>(*this))),
      pipeline_(parts_->settings.key_prefix),
      deadlines_(io.get_executor()),
      silence_(io.get_executor()),
      probed_name_(parts_->settings.key_prefix + "{probe}") {}

void session_core::start() {
  connection_->open();
  watch_silence();
}

void session_core::submit(const command& c, completion done) {
  const auto now = clock::now();
  if (closed_ ||
      connection_->admit(now, parts_->last_ready.load(std::memory_order_relaxed)) == link_policy::admission::refuse)
    return done(reply{});
  // A command that is alone, as those before were for a while, has nothing to wait for.
  const bool at_once = pipeline_.idle() && alone_ >= alone_for_a_while;
  pipeline_.submit(c, std::move(done), now + parts_->settings.command_timeout);
  ++batch_;
  if (at_once) {
    flush();
  } else {
    schedule_flush();
  }
  watch_deadlines();
}

void session_core::close() {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  connection_->close();
  deadlines_.cancel();
  silence_.cancel();
  parts_->outages.leave(counted_down_, counted_refused_);
  health_.reachable = health_.writable = false;
  complete(pipeline_.shut());
}

void session_core::on_ready(dialect how) {
  parts_->last_ready.store(clock::now(), std::memory_order_relaxed);
  set_reachable(true, {});
  if (!counted_refused_) health_.writable = true;
  pipeline_.open(how);
  schedule_flush();
}

bool session_core::on_reply(resp_value&& v) {
  const auto self = shared_from_this();
  finished_commands ended;
  if (!pipeline_.on_reply(std::move(v), ended)) return false;
  if (pipeline_.has_output()) schedule_flush();
  std::optional<server_error> unfit;
  for (finished& f : ended) {
    // before the completion is called: it may ask for the state of the store after its command
    if (!closed_) observe(f);
    if (f.fault && asks_for_a_new_connection(*f.fault)) unfit = f.fault;
    f.done(std::move(f.result));
  }
  if (unfit && !closed_) start_over(*unfit);
  return true;
}

void session_core::start_over(server_error why) {
  constexpr std::string_view reason = "the server takes no commands of ours";
  if (why == server_error::denied)
    connection_->drop_denied(reason);
  else
    connection_->drop(reason);
}

void session_core::on_lost(std::string_view reason) {
  const auto self = shared_from_this();
  troubled();
  if (counted_down_) parts_->outages.still_down(reason);
  set_reachable(false, reason);
  complete(pipeline_.shut());
}

// One write for all that this turn of the loop asks for.
void session_core::schedule_flush() {
  if (flush_scheduled_ || !pipeline_.has_output()) return;
  flush_scheduled_ = true;
  net::asio::post(io_.get_executor(), [self = shared_from_this()] {
    self->flush_scheduled_ = false;
    self->flush();
  });
}

void session_core::flush() {
  if (!connection_->writable() || !pipeline_.has_output()) return;
  alone_ = batch_ <= 1 ? alone_ + 1 : 0;
  batch_ = 0;
  pipeline_.take_output(spare_);
  connection_->write(spare_);
}

void session_core::watch_silence() {
  silence_.expires_after(silence_interval);
  silence_.async_wait([weak = weak_from_this()](net::error_code ec) {
    const auto self = weak.lock();
    if (!self || ec || self->closed_) return;
    self->look_if_silent();
    self->watch_silence();
  });
}

// An ordinary command with its ordinary deadline: it shows what all others would find, more than a PING could.
void session_core::look_if_silent() {
  const auto given = pipeline_.given();
  const bool silent = connection_->ready() && pipeline_.idle() && given == given_before_;
  given_before_ = given;
  silent_looks_ = silent ? silent_looks_ + 1 : 0;
  if (silent_looks_ < silent_for_long) return;
  silent_looks_ = 0;
  submit({.what = op::look, .name = probed_name_}, [](reply) {});
}

void session_core::watch_deadlines() {
  if (deadline_armed_) return;
  const auto next = pipeline_.next_deadline();
  if (!next) return;
  deadline_armed_ = true;
  deadlines_.expires_at(*next);
  deadlines_.async_wait([weak = weak_from_this()](net::error_code ec) {
    const auto self = weak.lock();
    if (!self) return;
    self->deadline_armed_ = false;
    if (!ec && !self->closed_) self->check_deadlines();
  });
}

// The timeout is the same for all, so the timer runs at most once per timeout, not once per command.
void session_core::check_deadlines() {
  bool broken = false;
  auto expired = pipeline_.expire(clock::now(), broken);
  if (!expired.empty()) troubled();
  complete(std::move(expired));
  // replies come in order: one that is missing holds up all that follow
  if (broken && !closed_) connection_->drop("a command was not answered in time");
  watch_deadlines();
}

void session_core::observe(const finished& f) {
  if (f.took_write) set_writable(true);
  if (f.fault && refuses_writes(*f.fault)) set_writable(false);
  // a full server still renews leases; one that takes no write at all does not
  if (f.fault == server_error::refused) {
    renewals_refused_ = true;
    troubled();
  }
  if (!f.fault || refuses_writes(*f.fault)) {
    connection_->proved();
    set_reachable(true, {});
  } else {
    set_reachable(false, "the server refuses commands");
  }
}

void session_core::troubled() { parts_->last_trouble.store(net::lease_clock::now(), std::memory_order_relaxed); }

health session_core::status() const {
  health h = health_;
  h.last_trouble = parts_->last_trouble.load(std::memory_order_relaxed);
  h.ever_troubled = h.last_trouble != net::lease_clock::time_point{};
  return h;
}

void session_core::set_reachable(bool on, std::string_view reason) {
  health_.reachable = on;
  if (!on) health_.writable = false;
  if (on && !counted_refused_) health_.writable = true;
  if (counted_down_ == !on) return;
  counted_down_ = !on;
  // also when it is back: leases ran on while nobody could renew them, the grace begins now
  troubled();
  if (on)
    parts_->outages.up();
  else
    parts_->outages.down(reason);
}

void session_core::set_writable(bool on) {
  health_.writable = on;
  if (counted_refused_ == !on) return;
  counted_refused_ = !on;
  if (on && std::exchange(renewals_refused_, false)) troubled();
  if (on)
    parts_->outages.writes_accepted();
  else
    parts_->outages.writes_refused();
}

void session_core::complete(std::vector<finished>&& all) {
  for (auto& f : all) f.done(std::move(f.result));
}

namespace {

class redis_session final : public session {
 public:
  explicit redis_session(std::shared_ptr<session_core> core) : core_(std::move(core)) {}
  ~redis_session() override { core_->close(); }
  redis_session(const redis_session&) = delete;
  redis_session& operator=(const redis_session&) = delete;

  void submit(const command& c, completion done) override {
    const auto core = core_;
    core->submit(c, std::move(done));
  }
  health status() const override { return core_->status(); }
  void close() override { core_->close(); }

 private:
  std::shared_ptr<session_core> core_;
};

}  // namespace

std::unique_ptr<session> make_session(net::asio::io_context& io, std::shared_ptr<shared_parts> parts) {
  auto core = std::make_shared<session_core>(io, std::move(parts));
  core->start();
  return std::make_unique<redis_session>(std::move(core));
}

}  // namespace idem::store::redis
