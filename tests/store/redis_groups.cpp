// Completions of one turn on a real server: what they cost, and what a server that takes no writes says of each.
#include <array>

#include "store/store_fixture.hpp"

namespace idem::test {
namespace {

const std::string mine = owner_text(1, 'a'), claimed = record_text('P', mine), answer = record_text('S', mine);

/// A server, and four records on it that are claimed and completed together.
class a_group_of_completions : public testing::Test {
 protected:
  void SetUp() override {
    config::store_config c;
    c.type = config::store_type::redis;
    c.redis = redis_settings(server_.port());
    backend_ = store::make_backend(c);
    runner_ = std::make_unique<session_runner>(*backend_);
    ASSERT_TRUE(runner_->connect());
    claim_all();
  }
  void claim_all() {
    for (auto& name : names_) {
      name = fresh_name();
      ASSERT_EQ(runner_->run(claim(name, claimed, 60s)).what, verdict::found);
    }
  }
  /// The verdicts of all four, submitted in one turn.
  std::vector<verdict> complete_all() {
    std::vector<verdict> verdicts;
    for (const auto& name : names_) {
      auto c = claim(name, answer, 60s);
      c.what = op::complete;
      c.expect = mine;
      runner_->session().submit(c, [&](reply r) { verdicts.push_back(r.what); });
    }
    EXPECT_TRUE(runner_->run_until([&] { return verdicts.size() == names_.size(); }));
    return verdicts;
  }
  void expect_everywhere(const std::string& value) {
    for (const auto& name : names_) EXPECT_EQ(server_.command({"GET", name}).text, value);
  }

  redis_server server_;
  std::unique_ptr<store::backend> backend_;
  std::unique_ptr<session_runner> runner_;
  std::array<std::string, 4> names_;
};

TEST_F(a_group_of_completions, costs_one_call_once_the_server_knows_the_script) {
  EXPECT_EQ(complete_all(), std::vector(4, verdict::done)) << "the server wants the text first";
  expect_everywhere(answer);
  claim_all();
  server_.command({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(complete_all(), std::vector(4, verdict::done));
  EXPECT_EQ(server_.calls("evalsha"), 1);
  EXPECT_EQ(server_.calls("eval"), 0);
  EXPECT_EQ(server_.calls("getrange"), 4);
  EXPECT_EQ(server_.calls("set"), 4);
  EXPECT_EQ(server_.calls("get"), 0);
  expect_everywhere(answer);
}

TEST_F(a_group_of_completions, is_refused_one_by_one_by_a_full_server) {
  server_.command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(complete_all(), std::vector(4, verdict::refused));
  EXPECT_FALSE(runner_->session().status().writable);
  expect_everywhere(claimed);
  server_.command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(complete_all(), std::vector(4, verdict::done));
  EXPECT_TRUE(runner_->session().status().writable);
}

}  // namespace
}  // namespace idem::test
