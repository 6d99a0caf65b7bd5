#include "store/store_fixture.hpp"

#include <atomic>

namespace idem::test {

std::string record_text(char state, const std::string& owner, const std::string& tail) {
  return std::string("i1 ") + state + " " + owner + tail;
}

std::string owner_text(unsigned attempt, char token) {
  char digits[8];
  std::snprintf(digits, sizeof digits, "%04x ", attempt);
  return digits + std::string(32, token);
}

std::string fresh_name() {
  static std::atomic<unsigned> n{0};
  auto number = std::to_string(n++);
  return "t:{" + number + std::string(43 - number.size(), 'x') + "}";
}

command claim(const std::string& name, const std::string& value, milliseconds ttl) {
  command c;
  c.what = op::claim;
  c.name = name;
  c.value = value;
  c.ttl = ttl;
  return c;
}

command look(const std::string& name) {
  command c;
  c.what = op::look;
  c.name = name;
  return c;
}

reply session_runner::run(const command& c) {
  std::optional<reply> answer;
  session_->submit(c, [&](reply r) { answer = std::move(r); });
  EXPECT_TRUE(run_until([&] { return answer.has_value(); }, 20s)) << "no completion";
  return answer ? std::move(*answer) : reply{};
}

bool session_runner::connect(milliseconds limit) {
  return run_until([&] { return session_->status().reachable; }, limit);
}

redis_server& server_of(store_kind kind) {
  static std::unique_ptr<redis_server> plain, without_scripts;
  if (kind == store_kind::redis) {
    if (!plain) plain = std::make_unique<redis_server>();
    return *plain;
  }
  if (!without_scripts)
    without_scripts = std::make_unique<redis_server>(
        std::vector<std::string>{"--rename-command", "EVAL", "", "--rename-command", "EVALSHA", ""});
  return *without_scripts;
}

config::redis_config redis_settings(std::uint16_t port) {
  config::redis_config c;
  c.address.host = "127.0.0.1";
  c.address.port = port;
  c.key_prefix = "t:";
  // for tests that are not about time: a busy machine must not turn them red
  c.connect_timeout = 5s;
  c.command_timeout = 5s;
  return c;
}

std::unique_ptr<store::backend> make_store(store_kind kind) {
  config::store_config c;
  if (kind != store_kind::memory) {
    c.type = config::store_type::redis;
    c.redis = redis_settings(server_of(kind).port());
  }
  return store::make_backend(c);
}

void store_contract::place(const std::string& name, const std::string& value, milliseconds ttl) {
  const auto r = run(claim(name, value, ttl));
  ASSERT_EQ(r.what, verdict::found);
  ASSERT_EQ(r.value, value);
}

std::string kind_name(const testing::TestParamInfo<store_kind>& info) {
  switch (info.param) {
    case store_kind::memory: return "memory";
    case store_kind::redis: return "redis";
    case store_kind::redis_without_scripts: return "redis_without_scripts";
  }
  return "?";
}

INSTANTIATE_TEST_SUITE_P(on, store_contract,
                         testing::Values(store_kind::memory, store_kind::redis, store_kind::redis_without_scripts),
                         kind_name);

}  // namespace idem::test
