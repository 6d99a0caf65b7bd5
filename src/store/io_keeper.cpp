#include "store/io_keeper.hpp"

#include <mutex>
#include <vector>

namespace idem::store {
namespace {

class keeper final : public net::asio::execution_context::service {
 public:
  using key_type = keeper;
  static net::asio::execution_context::id id;

  explicit keeper(net::asio::execution_context& context) : service(context) {}

  void keep(std::shared_ptr<void>&& object) {
    const std::lock_guard guard(lock_);
    kept_.push_back(std::move(object));
  }

 private:
  void shutdown() noexcept override { kept_.clear(); }

  std::mutex lock_;
  std::vector<std::shared_ptr<void>> kept_;
};

net::asio::execution_context::id keeper::id;

}  // namespace

void keep_with(net::asio::io_context& io, std::shared_ptr<void> object) {
  net::asio::use_service<keeper>(static_cast<net::asio::execution_context&>(io)).keep(std::move(object));
}

}  // namespace idem::store
