// What a replay leaves behind when the store had not answered to its first claim: a token to release, not the answer.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <memory>
#include <string>

#include "idem/config/load.hpp"
#include "idem/proxy/server.hpp"
#include "support/http_client.hpp"
#include "support/scripted_backend.hpp"

namespace {

using namespace std::chrono_literals;
using namespace idem::test;
namespace config = idem::config;
namespace store = idem::store;
using store::op;

/// A store that does not answer every other claim, and no release, while it is told so.
struct forgetful_store final : store::backend {
  struct session final : store::session {
    session(forgetful_store& s, std::unique_ptr<store::session> i) : of(s), inner(std::move(i)) {}
    void submit(const store::command& c, store::completion done) override {
      if (c.what == op::release) ++of.releases;
      const bool silent = of.forgets && (c.what == op::release || (c.what == op::claim && ++of.claims % 2 == 1));
      if (!silent) return inner->submit(c, std::move(done));
      store::reply none;
      none.sent = true;
      done(std::move(none));
    }
    store::health status() const override { return inner->status(); }
    void close() override { inner->close(); }
    forgetful_store& of;
    std::unique_ptr<store::session> inner;
  };

  std::string verify() override { return {}; }
  std::unique_ptr<store::session> open(idem::net::asio::io_context& io) override {
    return std::make_unique<session>(*this, records->open(io));
  }
  void subscribe(idem::net::asio::io_context&, store::change_listener) override {}
  std::string_view kind() const override { return "forgetful"; }

  std::unique_ptr<store::backend> records = store::make_backend({});
  std::atomic<bool> forgets{false};
  std::atomic<unsigned> claims{0}, releases{0};
};

std::size_t allocated() {
  const auto m = ::mallinfo2();
  return m.uordblks + m.hblkhd;
}

TEST(replays_after_a_claim_without_a_reply, hold_no_answer_while_their_tokens_are_released) {
  constexpr std::size_t size = 1024 * 1024, many = 50;
  scripted_backend backend;
  backend.on("*", reply(201, std::string(size, 'x')));
  forgetful_store records;
  idem::telemetry::registry metrics{1};
  const auto loaded =
      config::load_text("server: {listen: [\"127.0.0.1:0\"], threads: 1}\nupstream: {url: \"" + backend.url() +
                            "\"}\nroutes:\n  - name: api\n    idempotency: {max_stored_body: 2MiB}\n",
                        "test");
  ASSERT_TRUE(loaded.ok()) << loaded.findings.front().text();
  idem::proxy::server server(loaded.config, records, metrics);
  ASSERT_EQ(server.listen(), "");
  server.start();
  http_client client(server.ports().front());
  http_request request;
  request.fields = {{"Idempotency-Key", "k"}, {"Content-Type", "application/json"}};
  request.body = "{}";
  ASSERT_EQ(client.exchange(request).status, 201);
  ASSERT_TRUE(client.exchange(request).has("Idempotent-Replayed"));
  records.forgets = true;
  const auto before = allocated();
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(client.exchange(request).has("Idempotent-Replayed"));
  EXPECT_GE(records.releases, many) << "each has a token to release";
  EXPECT_LT(allocated(), before + many * size / 4);
  records.forgets = false;
  server.shutdown(0s);
}

}  // namespace
