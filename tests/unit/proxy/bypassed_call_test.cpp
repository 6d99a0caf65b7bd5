// A call that is let past the store (on_store_error: allow), and hears of it before it has sent anything.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "idem/config/load.hpp"
#include "idem/proxy/server.hpp"
#include "support/eventually.hpp"
#include "support/http_client.hpp"
#include "support/scripted_backend.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace std::chrono_literals;
using namespace idem::test;
namespace config = idem::config;
namespace store = idem::store;
using store::op;
using store::verdict;

/// Another process' store, which this one does not reach while it is told so.
struct distant_store final : store::backend {
  struct session final : store::session {
    session(distant_store& s, std::unique_ptr<store::session> i) : of(s), inner(std::move(i)) {}
    void submit(const store::command& c, store::completion done) override {
      if (of.away) return done({});
      store::reply heard;
      inner->submit(c, [&](store::reply r) { heard = std::move(r); });  // at once
      const bool lost = c.what == op::renew && heard.what == verdict::lost;
      done(std::move(heard));
      if (lost) of.renewal_lost = true;
    }
    store::health status() const override { return inner->status(); }
    void close() override { inner->close(); }
    distant_store& of;
    std::unique_ptr<store::session> inner;
  };

  explicit distant_store(store::backend& r) : records(r) {}
  std::string verify() override { return {}; }
  std::unique_ptr<store::session> open(idem::net::asio::io_context& io) override {
    return std::make_unique<session>(*this, records.open(io));
  }
  void subscribe(idem::net::asio::io_context&, store::change_listener) override {}
  std::string_view kind() const override { return "distant"; }

  store::backend& records;
  std::atomic<bool> away{true}, renewal_lost{false};
};

/// A backend that connections wait for.
class full_backend {
 public:
  full_backend() {
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    std::strcpy(where.sun_path, path().c_str());
    const auto* address = reinterpret_cast<const sockaddr*>(&where);
    EXPECT_EQ(::bind(listener_, address, sizeof where), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    EXPECT_EQ(::connect(first_, address, sizeof where), 0) << "nobody else may wait now";
  }
  ~full_backend() {
    for (const int fd : {listener_, first_}) ::close(fd);
  }
  full_backend(const full_backend&) = delete;
  full_backend& operator=(const full_backend&) = delete;

  std::string path() const { return (folder_.path() / "back").string(); }
  /// What whoever waits behind the first says before it ends.
  std::string accept_and_hear() {
    ::close(next());
    const int fd = next();
    std::string heard(64 * 1024, '\0');
    pollfd look{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&look, 1, 10'000), 1);
    const auto n = ::read(fd, heard.data(), heard.size());
    ::close(fd);
    heard.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return heard;
  }

 private:
  int next() {
    pollfd look{listener_, POLLIN, 0};
    EXPECT_EQ(::poll(&look, 1, 10'000), 1);
    return ::accept(listener_, nullptr, nullptr);
  }

  const temporary_folder folder_;
  const int listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int first_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

/// A process of two.
struct process {
  process(const std::string& upstream, store::backend& records) {
    const auto loaded = config::load_text(
        "server: {listen: [\"127.0.0.1:0\"], threads: 1}\nupstream: {url: \"" + upstream +
            "\", connect_timeout: 20s}\nroutes:\n  - name: api\n    idempotency: {lease: 1s, on_store_error: allow}\n",
        "test");
    EXPECT_TRUE(loaded.ok()) << loaded.findings.front().text();
    server = std::make_unique<idem::proxy::server>(loaded.config, records, metrics);
    EXPECT_EQ(server->listen(), "");
    server->start();
  }
  ~process() { server->shutdown(5s); }
  http_client connect() const { return http_client(server->ports().front()); }
  auto in_flight() { return metrics.worker(0).in_flight.load(); }

  idem::telemetry::registry metrics{1};
  std::unique_ptr<idem::proxy::server> server;
};

http_request charge() {
  http_request r;
  r.fields = {{"Idempotency-Key", "k"}, {"Content-Type", "application/json"}};
  r.body = "{}";
  return r;
}

TEST(a_call_that_was_let_past_the_store, is_not_sent_any_more_when_that_has_shown_anothers_record_before) {
  scripted_backend backend;
  backend.on("*", reply(201, "theirs"));
  full_backend full;
  const auto records = store::make_backend({});
  distant_store distant(*records);
  process there(backend.url(), *records), here("unix:" + full.path(), distant);
  auto client = here.connect();
  ASSERT_TRUE(client.send(charge()));
  ASSERT_TRUE(eventually([&] { return here.in_flight() == 1; })) << "it waits for a connection";
  EXPECT_EQ(there.connect().exchange(charge()).status, 201);
  distant.away = false;
  ASSERT_TRUE(eventually([&] { return distant.renewal_lost.load(); }));
  EXPECT_EQ(full.accept_and_hear(), "");
  const auto answer = client.read();
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "theirs");
  EXPECT_EQ(answer.value("Idempotent-Replayed"), "true");
  EXPECT_FALSE(answer.has("Idempotency-Status"));
  EXPECT_TRUE(eventually([&] { return here.in_flight() == 0; }));
}

}  // namespace
