#include "store/redis/backend.hpp"

#include <mutex>

#include "store/io_keeper.hpp"
#include "store/redis/eviction_check.hpp"
#include "store/redis/session.hpp"
#include "store/redis/subscription.hpp"

namespace idem::store::redis {
namespace {

class redis_backend final : public backend {
 public:
  explicit redis_backend(const config::redis_config& settings) : parts_(std::make_shared<shared_parts>(settings)) {
    parts_->tls = make_tls_context(settings);
  }

  ~redis_backend() override {
    if (const auto s = subscription_.lock()) s->stop();
  }
  redis_backend(const redis_backend&) = delete;
  redis_backend& operator=(const redis_backend&) = delete;

  std::string verify() override { return check_eviction(parts_); }

  std::unique_ptr<session> open(net::asio::io_context& io) override { return make_session(io, parts_); }

  void subscribe(net::asio::io_context& io, change_listener listener) override {
    const std::lock_guard guard(lock_);
    if (const auto before = subscription_.lock()) before->stop();
    auto made = std::make_shared<subscription>(io, parts_, std::move(listener));
    subscription_ = made;
    keep_with(io, made);
    // on its own thread: everything of a connection belongs to the thread of its io_context
    net::asio::post(io.get_executor(), [s = std::move(made)] { s->start(); });
  }

  std::string_view kind() const override { return "redis"; }

 private:
  std::shared_ptr<shared_parts> parts_;
  std::mutex lock_;
  std::weak_ptr<subscription> subscription_;
};

}  // namespace

std::unique_ptr<backend> make_backend(const config::redis_config& settings) {
  return std::make_unique<redis_backend>(settings);
}

}  // namespace idem::store::redis
