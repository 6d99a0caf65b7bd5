#include "idem/net/name_lookup.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace idem::net {

struct name_lookup::request {
  asio::io_context& io;
  handler done;  ///< touched on the io_context's thread only
};

namespace {

struct answer {
  error_code ec;
  name_lookup::addresses found;
};

error_code error_of(int code) {
  switch (code) {
    case EAI_AGAIN: return asio::error::host_not_found_try_again;
    case EAI_FAIL: return asio::error::no_recovery;
    case EAI_MEMORY: return asio::error::no_memory;
    case EAI_SYSTEM: return {errno, boost::system::system_category()};
    default: return asio::error::host_not_found;
  }
}

answer ask(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  answer a;
  if (const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); code != 0) {
    a.ec = error_of(code);
    return a;
  }
  for (const auto* each = found; each; each = each->ai_next) {
    asio::ip::tcp::endpoint e;
    if (each->ai_addrlen > e.capacity()) continue;
    std::memcpy(e.data(), each->ai_addr, each->ai_addrlen);
    e.resize(each->ai_addrlen);
    a.found.push_back(e);
  }
  ::freeaddrinfo(found);
  if (a.found.empty()) a.ec = asio::error::host_not_found;
  return a;
}

}  // namespace

/// Those that are under way, by what is looked up.
class lookups {
 public:
  using key = std::pair<std::string, std::uint16_t>;
  using request_ptr = std::shared_ptr<name_lookup::request>;

  void add(const key& what, const request_ptr& r) {
    const std::lock_guard guard(lock_);
    const auto [at, first] = waiting_.try_emplace(what);
    at->second.push_back(r);
    if (first && !begin(what)) end(what, {asio::error::try_again, {}});
  }
  void remove(const request_ptr& r) {
    const std::lock_guard guard(lock_);
    for (auto& [what, all] : waiting_) std::erase(all, r);
  }

 private:
  bool begin(const key& what) {
    // The thread must not take a signal that others wait for.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = true;
    try {
      std::thread([this, what] {
        auto a = ask(what.first, what.second);
        const std::lock_guard guard(lock_);
        end(what, std::move(a));
      }).detach();
    } catch (const std::system_error&) {  // no thread is to be had
      begun = false;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return begun;
  }

  /// With the lock held: until remove() is through, the io_context of a request exists.
  void end(const key& what, answer a) {
    const auto shared = std::make_shared<const answer>(std::move(a));
    const auto waited = waiting_.extract(what);
    for (const auto& r : waited.mapped()) {
      asio::post(r->io, [r, shared] {
        if (const auto done = std::exchange(r->done, nullptr)) done(shared->ec, shared->found);
      });
    }
  }

  std::mutex lock_;
  std::map<key, std::vector<request_ptr>> waiting_;
};

namespace {

// Never destroyed: a thread may come back until the process is gone.
lookups& all_lookups() {
  static lookups& all = *new lookups;
  return all;
}

}  // namespace

void name_lookup::start(const std::string& host, std::uint16_t port, handler done) {
  cancel();
  request_ = std::make_shared<request>(request{io_, std::move(done)});
  all_lookups().add({host, port}, request_);
}

void name_lookup::cancel() {
  if (!request_) return;
  all_lookups().remove(request_);
  request_->done = nullptr;
  request_.reset();
}

}  // namespace idem::net
