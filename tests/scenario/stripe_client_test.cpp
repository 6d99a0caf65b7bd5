// A client that was not made for this proxy, unchanged: the npm package `stripe`, which makes up its own
// Idempotency-Key and tries again by itself. It talks through a relay that loses answers to the real program, whose
// records are in a real Redis, before a backend that knows just enough of that API to make charges.
//
// The package is installed (npm ci) into the build folder, once for each state of its lock file.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <filesystem>
#include <mutex>

#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/node_package.hpp"
#include "support/proxy_process.hpp"
#include "support/redis_server.hpp"
#include "support/relay.hpp"
#include "support/scripted_backend.hpp"

namespace idem::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

const node_package& package() {
  static const node_package p(std::filesystem::path(IDEM_SOURCE_DIR) / "tests/scenario/stripe_client");
  return p;
}

/// Makes charges, and remembers them: what a customer would find on the bill.
class charges {
 public:
  script take() {
    return [this](const backend_request& request, backend_connection& connection) {
      std::string id;
      {
        const std::lock_guard lock(mutex_);
        made_.push_back(request.body);
        id = "ch_" + std::to_string(made_.size());
      }
      reply(200, json::serialize(json::object{{"id", id}, {"object", "charge"}, {"status", "succeeded"}}),
            {"Content-Type: application/json", "Request-Id: req_" + id})(request, connection);
    };
  }
  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return made_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> made_;
};

/// The client in a process of its own.
class client_run {
 public:
  client_run(std::uint16_t port, const json::object& wanted)
      : process_({"node", package().script("charge.js"), std::to_string(port), json::serialize(wanted)}, output()) {}

  /// Waits until it has ended, whatever came of it.
  void end() { EXPECT_TRUE(finish(process_, 60s).has_value()); }

  /// What it printed, once it has ended.
  json::object result() {
    const auto status = finish(process_, 60s);
    const auto text = content(output());
    EXPECT_EQ(status, 0) << text;
    boost::system::error_code ec;
    const auto value = json::parse(text, ec);
    if (ec || !value.is_object()) {
      ADD_FAILURE() << "the client printed: " << text;
      return {};
    }
    return value.get_object();
  }

 private:
  std::string output() const { return (folder_.path() / "output").string(); }

  temporary_folder folder_;
  child_process process_;
};

std::string text(const json::object& of, std::string_view name) {
  const auto* value = of.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string charge_id(const json::object& result) {
  const auto* charge = result.if_contains("charge");
  return charge && charge->is_object() ? text(charge->get_object(), "id") : std::string();
}

/// The tries' statuses in their order, 0 where no answer came; all tries must have had one key.
std::vector<int> statuses(const json::object& result) {
  std::vector<int> all;
  std::string key;
  const auto* tries = result.if_contains("tries");
  if (!tries || !tries->is_array()) return all;
  for (const auto& item : tries->get_array()) {
    const auto& one = item.as_object();
    if (key.empty()) key = text(one, "key");
    EXPECT_EQ(text(one, "key"), key);
    const auto* status = one.if_contains("status");
    all.push_back(status ? static_cast<int>(status->as_int64()) : 0);
  }
  EXPECT_FALSE(key.empty()) << "the client sent no key";
  return all;
}

class stripe_client : public testing::Test {
 protected:
  void SetUp() override {
    if (!node_package::node_is_there())
      GTEST_SKIP() << "node or npm is not installed (scripts/deps.sh test installs them)";
    static const auto failure = package().install();
    ASSERT_TRUE(failure.empty()) << failure;
    backend_.on("/v1/charges", charges_.take());
    proxy_settings settings;
    settings.upstream = backend_.url();
    settings.redis_port = redis_.port();
    settings.routes = {"{name: charges, match: {path: /v1/charges}, idempotency: {key: {required: true}}}"};
    proxy_ = std::make_unique<proxy_process>(settings);
    network_ = std::make_unique<relay>(proxy_->port());
  }

  json::object run(const json::object& wanted) { return client_run(network_->port(), wanted).result(); }

  charges charges_;
  scripted_backend backend_;
  redis_server redis_;
  std::unique_ptr<proxy_process> proxy_;
  std::unique_ptr<relay> network_;
};

const json::object patient{{"amount", 2000}, {"retries", 2}, {"timeout_ms", 20000}};

json::object keyed(std::string_view key, int amount) {
  return {{"amount", amount}, {"retries", 2}, {"timeout_ms", 20000}, {"key", key}};
}

void expect_one_charge(const json::object& result, const std::string& id) {
  EXPECT_EQ(statuses(result), (std::vector<int>{0, 200}));
  EXPECT_EQ(charge_id(result), id);
  EXPECT_EQ(text(result, "replayed"), "true");
}

TEST_F(stripe_client, a_charge_whose_reply_was_lost_whole_is_made_once) {
  network_->cut_after_reply_bytes(0);
  expect_one_charge(run(patient), "ch_1");
  EXPECT_EQ(charges_.count(), 1U);
  EXPECT_EQ(backend_.count(), 1U);
  EXPECT_EQ(network_->accepted(), 2U);
  EXPECT_EQ(backend_.faults(), std::vector<std::string>{});
}

TEST_F(stripe_client, a_charge_whose_reply_was_cut_within_its_head_is_made_once) {
  network_->cut_after_reply_bytes(40);
  expect_one_charge(run(patient), "ch_1");
  EXPECT_EQ(charges_.count(), 1U);
}

// Here the client has seen a status, and never settles: it is the application that starts over, with its own key.
TEST_F(stripe_client, a_charge_whose_reply_lacks_its_last_byte_is_made_once) {
  const auto first = run(keyed("order-7", 2000));
  EXPECT_EQ(charge_id(first), "ch_1");
  EXPECT_EQ(text(first, "replayed"), "");
  // the second charge's answer differs from the first one's in a digit only
  network_->cut_after_reply_bytes(network_->bytes_down() - 1);
  client_run(network_->port(), keyed("order-8", 2000)).end();
  EXPECT_EQ(charges_.count(), 2U);
  const auto second = run(keyed("order-8", 2000));
  EXPECT_EQ(charge_id(second), "ch_2");
  EXPECT_EQ(text(second, "replayed"), "true");
  EXPECT_EQ(charges_.count(), 2U);
}

TEST_F(stripe_client, a_client_that_gives_up_too_early_gets_the_first_answer_in_the_end) {
  gate done;
  backend_.on("/v1/charges", held(done, charges_.take()));
  client_run client(network_->port(), {{"amount", 2000}, {"retries", 5}, {"timeout_ms", 500}});
  // it tries again while the first try is still executed
  const auto* sample = "idempotency_proxy_requests_total{route=\"charges\",decision=\"in_progress\"}";
  EXPECT_TRUE(eventually([&] { return proxy_->metric(sample).value_or(0) >= 1; }, 20s));
  done.open();
  const auto result = client.result();
  const auto seen = statuses(result);
  EXPECT_EQ(charge_id(result), "ch_1");
  EXPECT_EQ(text(result, "replayed"), "true");
  // given up, refused as in progress, answered; the client tells no status of tries that it repeats
  ASSERT_GE(seen.size(), 3U);
  EXPECT_EQ(seen.front(), 0);
  EXPECT_EQ(seen.back(), 200);
  EXPECT_EQ(charges_.count(), 1U);
}

TEST_F(stripe_client, a_key_that_was_used_for_another_amount_charges_nothing) {
  EXPECT_EQ(charge_id(run(keyed("order-7", 2000))), "ch_1");
  const auto other = run(keyed("order-7", 9000));
  // this client takes every JSON without a member `error` for a charge; the status and the code tell
  EXPECT_EQ(charge_id(other), "");
  EXPECT_EQ(statuses(other), std::vector<int>{422});
  EXPECT_EQ(text(other, "code"), "key-reused");
  EXPECT_EQ(charges_.count(), 1U);
}

}  // namespace
}  // namespace idem::test
