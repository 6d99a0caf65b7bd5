#include "store/memory/backend.hpp"

#include <boost/asio/post.hpp>

#include <mutex>

#include "store/io_keeper.hpp"
#include "store/memory/table.hpp"

namespace idem::store::memory {
namespace {

// Who hears of changes, and where. Kept by its io_context, so that it is gone when that is.
struct listening {
  net::asio::io_context& io;
  change_listener tell;
};

// What sessions share; it lives as long as the last of them.
struct shared_state {
  explicit shared_state(std::size_t max_bytes) : records(max_bytes) {}

  void listen(net::asio::io_context& io, change_listener&& listener) {
    auto made = std::make_shared<listening>(listening{io, std::move(listener)});
    keep_with(io, made);
    {
      const std::lock_guard guard(lock);
      to = made;
    }
    tell({});
  }

  void tell(std::string_view name) {
    const std::lock_guard guard(lock);
    if (const auto l = to.lock()) net::asio::post(l->io, [l, n = std::string(name)] { l->tell(n); });
  }

  table records;

 private:
  std::mutex lock;
  std::weak_ptr<listening> to;
};

bool changed(const command& c, const reply& r) {
  return wakes(c.what) && (r.what == verdict::done || r.what == verdict::recreated);
}

class memory_session final : public session {
 public:
  explicit memory_session(std::shared_ptr<shared_state> state) : state_(std::move(state)) {}

  void submit(const command& c, completion done) override {
    if (closed_) return done(reply{});
    auto r = state_->records.run(c, net::lease_clock::now());
    if (c.notify && changed(c, r)) state_->tell(c.name);
    done(std::move(r));
  }

  health status() const override {
    health h;
    h.reachable = !closed_;
    h.writable = h.reachable && state_->records.writable();
    return h;
  }

  void close() override { closed_ = true; }

 private:
  std::shared_ptr<shared_state> state_;
  bool closed_ = false;
};

class memory_backend final : public backend {
 public:
  explicit memory_backend(std::size_t max_bytes) : state_(std::make_shared<shared_state>(max_bytes)) {}

  std::string verify() override { return {}; }
  std::unique_ptr<session> open(net::asio::io_context&) override { return std::make_unique<memory_session>(state_); }
  void subscribe(net::asio::io_context& io, change_listener listener) override {
    state_->listen(io, std::move(listener));
  }
  std::string_view kind() const override { return "memory"; }

 private:
  std::shared_ptr<shared_state> state_;
};

}  // namespace

std::unique_ptr<backend> make_backend(std::size_t max_bytes) { return std::make_unique<memory_backend>(max_bytes); }

}  // namespace idem::store::memory
