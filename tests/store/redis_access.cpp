// What a server lets us do, which is found out as each connection is made: who we are, what we may run, and whether it
// keeps what it is given.
#include "store/redis_faults.hpp"
#include "support/relay.hpp"

namespace idem::test {
namespace {

using redis_access = redis_faults;

TEST_F(redis_access, a_missing_password_is_unavailable_without_a_hot_loop) {
  redis_server server({"--requirepass", "secret"});
  relay between(server.port());
  use(between.port());
  const auto name = fresh_name();
  const auto from = steady_clock::now();
  while (steady_clock::now() - from < 1s) EXPECT_EQ(run(look(name)).what, verdict::unavailable);
  EXPECT_FALSE(status().reachable);
  EXPECT_LE(between.accepted(), 14u);
  EXPECT_EQ(backend_->verify(), "") << "a wrong password may be put right while we run";
}

TEST_F(redis_access, a_password_file_is_read_again_for_each_connection) {
  redis_server server({"--requirepass", "secret"});
  const auto file = server.folder().write("password", "wrong\n");
  use(server.port(), [&](auto& c) { c.password_file = file; });
  EXPECT_EQ(run(claim(fresh_name(), value, 60s)).what, verdict::unavailable);
  server.folder().write("password", "secret\n");
  expect_recovery();
}

TEST_F(redis_access, a_named_user_a_database_and_a_unix_socket_work) {
  redis_server server;
  server.command({"ACL", "SETUSER", "idem", "on", ">pw", "~t:*", "&t:*", "+@all"});
  use(0, [&](auto& c) {
    c.address = {};
    c.address.unix_path = server.unix_path();
    c.username = "idem";
    c.password = "pw";
    c.database = 3;
  });
  ASSERT_TRUE(runner_->connect());
  const auto name = fresh_name();
  EXPECT_EQ(run(claim(name, value, 60s)).what, verdict::found);
  redis_client look_inside(server.port());
  look_inside.command({"SELECT", "3"});
  EXPECT_EQ(look_inside.command({"GET", name}).text, value);
}

TEST_F(redis_access, commands_that_the_user_may_not_run_are_unavailable_until_it_may_and_without_a_hot_loop) {
  redis_server server;
  server.command({"ACL", "SETUSER", "idem", "on", ">pw", "~t:*", "&t:*", "+@all"});
  relay between(server.port());
  use(between.port(), [&](auto& c) {
    c.username = "idem";
    c.password = "pw";
  });
  ASSERT_TRUE(runner_->connect());
  server.command({"ACL", "SETUSER", "idem", "-set"});
  const auto r = run(claim(fresh_name(), value, 60s));
  EXPECT_EQ(r.what, verdict::unavailable);
  EXPECT_FALSE(r.sent);
  const auto from = steady_clock::now();
  while (steady_clock::now() - from < 1s) {
    EXPECT_EQ(run(claim(fresh_name(), value, 60s)).what, verdict::unavailable);
    EXPECT_FALSE(status().reachable);
  }
  EXPECT_LE(between.accepted(), 14u);
  server.command({"ACL", "SETUSER", "idem", "+set"});
  expect_recovery();
}

TEST_F(redis_access, scripts_that_the_user_may_not_run_any_more_are_replaced_by_transactions) {
  redis_server server;
  server.command({"ACL", "SETUSER", "idem", "on", ">pw", "~t:*", "&t:*", "+@all"});
  use(server.port(), [](auto& c) {
    c.username = "idem";
    c.password = "pw";
  });
  ASSERT_TRUE(runner_->connect());
  const auto name = fresh_name(), answer = record_text('S', mine);
  ASSERT_EQ(run(claim(name, value, 60s)).what, verdict::found);
  server.command({"ACL", "SETUSER", "idem", "-eval", "-evalsha"});
  auto c = claim(name, answer, 60s);
  c.what = op::complete;
  c.expect = mine;
  const auto denied = run(c);
  EXPECT_EQ(denied.what, verdict::unavailable);
  EXPECT_FALSE(denied.sent);
  EXPECT_EQ(run(c).what, verdict::done) << "the very next one finds the way that is left";
  EXPECT_EQ(server.command({"GET", name}).text, answer);
}

TEST_F(redis_access, a_server_that_lets_us_claim_but_neither_complete_nor_release_is_not_used) {
  for (const std::string denied : {"-eval -evalsha -watch", "-eval -evalsha -exec", "-del", "-pexpire", "-getrange"}) {
    redis_server server;
    server.command({"ACL", "SETUSER", "idem", "on", ">pw", "~t:*", "&t:*", "+@all"});
    for (std::size_t at = 0; at < denied.size();) {
      const auto end = std::min(denied.find(' ', at), denied.size());
      server.command({"ACL", "SETUSER", "idem", denied.substr(at, end - at)});
      at = end + 1;
    }
    use(server.port(), [](auto& c) {
      c.username = "idem";
      c.password = "pw";
    });
    testing::internal::CaptureStderr();
    const auto name = fresh_name();
    EXPECT_EQ(run(claim(name, value, 60s)).what, verdict::unavailable) << denied;
    EXPECT_NE(testing::internal::GetCapturedStderr().find("neither scripts nor transactions"), std::string::npos);
    EXPECT_EQ(server.command({"EXISTS", name}).integer, 0) << denied;
    server.command({"ACL", "SETUSER", "idem", "+@all"});
    expect_recovery();
  }
}

TEST_F(redis_access, a_server_is_tried_out_without_leaving_a_trace) {
  redis_server server;
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  EXPECT_EQ(server.command({"DBSIZE"}).integer, 0);
  server.command({"CONFIG", "RESETSTAT"});
  ASSERT_EQ(run(claim(fresh_name(), value, 60s)).what, verdict::found);
  EXPECT_EQ(server.calls("set"), 1);
  EXPECT_EQ(server.calls("get") + server.calls("pttl"), 0) << "SET was found to do their work";
}

TEST_F(redis_access, a_server_that_may_evict_records_is_refused_unless_that_is_allowed) {
  redis_server server;
  use(server.port());
  EXPECT_EQ(backend_->verify(), "");
  for (const std::string policy : {"allkeys-lru", "volatile-ttl", "allkeys-random"}) {
    server.command({"CONFIG", "SET", "maxmemory-policy", policy});
    EXPECT_NE(backend_->verify().find(policy), std::string::npos);
  }
  use(server.port(), [](auto& c) { c.allow_eviction = true; });
  EXPECT_EQ(backend_->verify(), "");
  expect_recovery();
}

TEST_F(redis_access, a_server_that_may_evict_records_is_not_used_when_it_comes_later) {
  redis_server server({"--maxmemory-policy", "allkeys-lru"});
  server.stop();
  use(server.port());
  EXPECT_EQ(backend_->verify(), "") << "it is away: nobody can tell";
  testing::internal::CaptureStderr();
  EXPECT_TRUE(runner_->run_until([&] { return status().ever_troubled; }));
  server.start();
  runner_->run_until([&] { return run(look(fresh_name())).what != verdict::unavailable; }, 2s);
  EXPECT_FALSE(status().reachable);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the server may evict records"), std::string::npos);
  server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  expect_recovery();
}

TEST_F(redis_access, the_eviction_policy_is_found_where_CONFIG_is_forbidden) {
  redis_server server({"--rename-command", "CONFIG", "", "--maxmemory-policy", "allkeys-lfu"});
  use(server.port());
  EXPECT_NE(backend_->verify().find("allkeys-lfu"), std::string::npos);
}

TEST_F(redis_access, verify_does_not_wait_for_a_silent_server) {
  redis_server server;
  server.pause();
  use(server.port());
  const auto from = steady_clock::now();
  EXPECT_EQ(backend_->verify(), "");
  EXPECT_LT(steady_clock::now() - from, 500ms + command_timeout + slack);
  server.resume();
}

}  // namespace
}  // namespace idem::test
