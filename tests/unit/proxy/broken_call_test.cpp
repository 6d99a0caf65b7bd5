// Exceptions in a claimed call, such as a want of memory: nothing of it is left behind, and its key lapses.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <string>

#include "idem/config/load.hpp"
#include "idem/proxy/server.hpp"
#include "support/eventually.hpp"
#include "support/http_client.hpp"
#include "support/scripted_backend.hpp"

namespace {

using namespace std::chrono_literals;
using namespace idem::test;
namespace config = idem::config;
namespace store = idem::store;
using idem::idempotency::op;

/// A store that has no memory for commands of one kind, while it is told so.
struct breaking_store final : store::backend {
  struct session final : store::session {
    session(breaking_store& s, std::unique_ptr<store::session> i) : of(s), inner(std::move(i)) {}
    void submit(const store::command& c, store::completion done) override {
      if (c.what == op::release) ++of.releases;
      if (of.breaks && c.what == op::complete) throw std::bad_alloc();
      inner->submit(c, std::move(done));
    }
    store::health status() const override { return inner->status(); }
    void close() override { inner->close(); }
    breaking_store& of;
    std::unique_ptr<store::session> inner;
  };

  std::string verify() override { return {}; }
  std::unique_ptr<store::session> open(idem::net::asio::io_context& io) override {
    return std::make_unique<session>(*this, records->open(io));
  }
  void subscribe(idem::net::asio::io_context& io, store::change_listener l) override {
    records->subscribe(io, std::move(l));
  }
  std::string_view kind() const override { return "breaking"; }

  std::unique_ptr<store::backend> records = store::make_backend({});
  std::atomic<bool> breaks{true};
  std::atomic<int> releases{0};
};

class a_call_that_an_exception_ends : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto loaded =
        config::load_text("server: {listen: [\"127.0.0.1:0\"], threads: 1}\nupstream: {url: \"" + backend.url() +
                              "\"}\nroutes:\n  - name: api\n    idempotency: {max_request_body: 64MiB, "
                              "max_stored_body: 16MiB}\n",
                          "test");
    ASSERT_TRUE(loaded.ok()) << loaded.findings.front().text();
    server = std::make_unique<idem::proxy::server>(loaded.config, records, metrics);
    ASSERT_EQ(server->listen(), "");
    server->start();
  }
  void TearDown() override { server->shutdown(5s); }

  http_client connect() const { return http_client(server->ports().front()); }
  http_request charge(std::string body = "{}") const {
    http_request r;
    r.fields = {{"Idempotency-Key", "k"}, {"Content-Type", "application/json"}};
    r.body = std::move(body);
    return r;
  }
  /// Neither the call nor its client is there any more, and the key is still its owner's.
  void expect_nothing_is_left() {
    const auto& m = metrics.worker(0);
    EXPECT_TRUE(eventually([&] { return m.in_flight.load() == 0 && m.connections.load() == 0; }));
    EXPECT_EQ(records.releases, 0) << "bytes were sent";
    EXPECT_EQ(connect().exchange(charge(request_body)).value("Idempotency-Status"), "in-progress");
    records.breaks = false;
    auto other = charge();
    other.fields.front().second = "other";
    EXPECT_EQ(connect().exchange(other).status, 201) << "others are served";
  }

  static constexpr std::size_t large = 15 * 1024 * 1024;  ///< more than sockets hold
  std::string request_body = "{}";
  scripted_backend backend;
  breaking_store records;
  idem::telemetry::registry metrics{1};
  std::unique_ptr<idem::proxy::server> server;
};

TEST_F(a_call_that_an_exception_ends, leaves_nothing_behind_when_all_was_said) {
  backend.on("*", reply(201, "made"));
  auto client = connect();
  client.send(charge());
  EXPECT_FALSE(client.read().whole());
  expect_nothing_is_left();
}

TEST_F(a_call_that_an_exception_ends, leaves_nothing_behind_while_its_request_still_goes_up) {
  backend.on("*", reply(201, "made"));
  backend.on_head("*", [](const backend_request& r, backend_connection& c) {
    if (r.value("Content-Length") == "2") return;
    c.send(answer_bytes(201, "made"));
    EXPECT_TRUE(c.peer_closed(10s));
    c.close();
  });
  request_body.assign(large, 'x');
  auto client = connect();
  ASSERT_TRUE(client.send(charge(request_body)));
  EXPECT_FALSE(client.read().whole());
  expect_nothing_is_left();
}

TEST_F(a_call_that_an_exception_ends, leaves_nothing_behind_while_its_client_takes_its_time) {
  gate end;
  backend.on("*", in_turn({both(raw("HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\nf00000\r\n" +
                                    std::string(large, 'x') + "\r\n"),
                                held(end, raw("0\r\n\r\n"))),
                           reply(201, "made")}));
  auto client = connect();
  client.send(charge());
  ASSERT_TRUE(client.wait_for("HTTP/1.1 201"));
  end.open();
  const auto& m = metrics.worker(0);
  ASSERT_TRUE(eventually([&] { return m.connections.load() == 0; }));
  EXPECT_FALSE(client.read().whole());
  EXPECT_TRUE(client.was_reset()) << "what has come must not look whole";
  expect_nothing_is_left();
}

}  // namespace
