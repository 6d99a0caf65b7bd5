// The process dies, stops, drains, or is told of a new configuration.
#include <signal.h>

#include "scenario/scenario.hpp"
#include "support/relay.hpp"

namespace idem::test {
namespace {

class a_process : public on_every_store {};
RUNS_ON_EVERY_STORE(a_process);

TEST_P(a_process, that_drains_finishes_and_stores_what_runs_and_exits_with_zero) {
  gate go;
  backend.on("*", held(go, reply(201, "made")));
  start();
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  proxy->terminate();
  ASSERT_TRUE(eventually([&] { return !proxy->connect().connected(); })) << "no new connections";
  EXPECT_EQ(proxy->admin("/livez").status, 200);
  EXPECT_EQ(proxy->admin("/readyz").status, 503);
  go.open();
  const auto answer = first.get();
  EXPECT_TRUE(is_fresh(answer, 201));
  EXPECT_EQ(answer.value("Connection"), "close");
  EXPECT_EQ(proxy->wait_for_exit(), 0);
  if (GetParam() == store::redis) {
    EXPECT_EQ(record_state(), 'S');
    proxy->start();
    EXPECT_TRUE(is_replay(post("k"), answer));
  }
}

TEST_P(a_process, that_gets_a_second_sigterm_ends_at_once) {
  backend.on("*", hang());
  start();
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(backend.wait_for("k"));
  proxy->terminate();
  ASSERT_TRUE(eventually([&] { return !proxy->connect().connected(); }));
  proxy->terminate();
  EXPECT_TRUE(proxy->wait_for_exit(3s).has_value());
}

TEST_P(a_process, keeps_a_request_in_flight_on_the_configuration_that_it_began_with) {
  gate go;
  backend.on("*", in_turn({held(go, reply(201, std::string(100, 'x'))), reply(201, std::string(100, 'y'))}));
  start("max_stored_body: 1KiB");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  scripted_backend other;
  other.on("*", reply(200, std::string(100, 'z')));
  auto next = settings("max_stored_body: 10B");
  next.upstream = other.url();
  proxy->reload(next);
  EXPECT_TRUE(is_fresh(post("new"), 200)) << "by the new one";
  EXPECT_TRUE(is_problem(post("new"), 409, "answer-not-kept"));
  go.open();
  const auto answer = first.get();
  EXPECT_TRUE(is_fresh(answer, 201));
  EXPECT_TRUE(is_replay(post("k"), answer)) << "its answer was kept by the limit of before";
  EXPECT_EQ(other.count("k"), 0u);
  EXPECT_EQ(other.count("new"), 1u);
}

TEST_P(a_process, serves_and_reaches_unix_sockets) {
  temporary_folder folder;
  scripted_backend local({0, (folder.path() / "backend.sock").string()});
  auto s = settings();
  s.upstream = local.url();
  s.listen_unix = (folder.path() / "proxy.sock").string();
  start(s);
  http_client client(s.listen_unix);
  ASSERT_TRUE(client.connected());
  const auto first = client.exchange(charge("k"));
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(http_client(s.listen_unix).exchange(charge("k")), first));
  EXPECT_EQ(local.count("k"), 1u);
}

TEST_P(a_process, forgets_an_unknown_outcome_when_its_hold_ends) {
  backend.on("*", in_turn({reset_connection(), reply(201)}));
  start("lease: 1s, hold: 1s");
  EXPECT_TRUE(is_problem(post("k"), 502, "upstream-failed"));
  EXPECT_TRUE(is_problem(post("k"), 409, "outcome-unknown"));
  http_response r;
  EXPECT_TRUE(eventually([&] { return (r = post("k")).status != 409; }, 5s));
  EXPECT_TRUE(is_fresh(r, 201));
}

class a_dead_process : public on_redis {};

TEST_F(a_dead_process, leaves_an_unknown_outcome_and_no_second_execution_on_at_most_once) {
  backend.on("*", in_turn({hang(), reply(201, "never")}));
  start("lease: 1s");
  proxy_process other(settings("lease: 1s"));
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(backend.wait_for("k"));
  proxy->kill();
  EXPECT_TRUE(is_problem(other.fetch(charge("k")), 409, "in-progress"));
  http_response r;
  ASSERT_TRUE(eventually([&] { return (r = other.fetch(charge("k"))).value("Idempotency-Status") != "in-progress"; }));
  EXPECT_TRUE(is_problem(r, 409, "outcome-unknown"));
  EXPECT_TRUE(says(r, "retryable", true)) << "its owner may still come back";
  EXPECT_EQ(r.value("Retry-After"), "1");
  EXPECT_NE(r.body.find("\"first_seen\""), std::string::npos);
  EXPECT_TRUE(is_problem(other.fetch(charge("k", "other")), 422, "key-reused"));
  proxy->start();
  EXPECT_TRUE(is_problem(post("k"), 409, "outcome-unknown"));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_F(a_dead_process, is_taken_over_after_its_lease_on_at_least_once) {
  backend.on("*", in_turn({hang(), reply(201, "made")}));
  start("lease: 1s, guarantee: at_least_once, attempt_header: true");
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(backend.wait_for("k"));
  proxy->kill();
  proxy->start();
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress")) << "the lease still runs";
  http_response r;
  ASSERT_TRUE(eventually([&] { return (r = post("k")).status != 409; }));
  EXPECT_TRUE(is_fresh(r, 201));
  EXPECT_TRUE(is_replay(post("k"), r));
  ASSERT_EQ(backend.count("k"), 2u);
  EXPECT_EQ(backend.requests()[1].value("Idempotency-Attempt"), "2");
}

TEST_F(a_dead_process, has_stored_what_its_client_had_whole) {
  start();
  const auto answer = post("k");
  proxy->kill();
  proxy->start();
  EXPECT_TRUE(is_replay(post("k"), answer));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_F(a_dead_process, that_was_only_stopped_does_not_overwrite_its_successor) {
  gate first_go;
  backend.on("*", in_turn({held(first_go, reply(201, "old")), reply(201, "new")}));
  const std::string policy = "lease: 1s, guarantee: at_least_once";
  start(policy);
  proxy_process other(settings(policy));
  auto stopped = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  proxy->pause();
  http_response r;
  ASSERT_TRUE(eventually([&] { return (r = other.fetch(charge("k"))).status != 409; }));
  EXPECT_EQ(r.body, "new");
  first_go.open();
  ASSERT_TRUE(backend.wait_for_answers(2));
  proxy->resume();
  const auto late = stopped.get();
  EXPECT_EQ(late.body, "new") << "the record that stands is the answer: " << late.head;
  EXPECT_TRUE(is_replay(other.fetch(charge("k")), r));
}

TEST_F(a_dead_process, that_was_only_stopped_resolves_its_own_lapsed_record_on_at_most_once) {
  gate go;
  backend.on("*", held(go, reply(201, "made")));
  start("lease: 1s");
  proxy_process other(settings("lease: 1s"));
  auto stopped = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  proxy->pause();
  ASSERT_TRUE(eventually([&] { return other.fetch(charge("k")).value("Idempotency-Status") == "outcome-unknown"; }));
  go.open();
  proxy->resume();
  const auto answer = stopped.get();
  EXPECT_TRUE(is_fresh(answer, 201));
  EXPECT_TRUE(is_replay(other.fetch(charge("k")), answer));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_F(a_dead_process, declares_what_outlives_its_drain) {
  backend.on("*", hang());
  auto s = settings("hold: 60s");
  s.server_more = "timeouts: {drain: 500ms}";
  start(s);
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(backend.wait_for("k"));
  proxy->terminate();
  EXPECT_EQ(proxy->wait_for_exit(5s), 0);
  EXPECT_EQ(record_state(), 'U');
  proxy->start();
  const auto r = post("k");
  EXPECT_TRUE(is_problem(r, 409, "outcome-unknown"));
  EXPECT_TRUE(says(r, "retryable", false));
}

TEST_F(a_dead_process, sends_nothing_when_its_drain_ended_before_the_claim_was_answered) {
  relay wire(shared_redis().port());
  auto s = settings("lease: 6s");
  s.server_more = "timeouts: {drain: 100ms}";
  s.redis_port = wire.port();
  s.redis_more = "command_timeout: 2s, connect_timeout: 2s";
  start(s);
  wire.delay(400ms);
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(record_becomes('P'));
  proxy->terminate();
  EXPECT_EQ(proxy->wait_for_exit(8s), 0);
  EXPECT_EQ(backend.count("k"), 0u) << "nobody would have taken the answer";
  EXPECT_EQ(record_state(), '-') << "and the key is free";
}

/// A process that asks a store which does not answer whether it may be used.
class a_starting_process : public on_redis {
 protected:
  void start_on_a_silent_store() {
    wire.blackhole(true);
    auto s = settings();
    s.redis_port = wire.port();
    s.redis_more = "connect_timeout: 1s";
    s.wait_until_ready = false;
    start(s);
    ASSERT_TRUE(eventually([&] { return wire.accepted() > 0; }));
  }

  relay wire{shared_redis().port()};
};

TEST_F(a_starting_process, that_is_asked_to_end_ends_with_zero_and_has_served_nothing) {
  start_on_a_silent_store();
  proxy->terminate();
  EXPECT_EQ(proxy->wait_for_exit(), 0);
  EXPECT_EQ(proxy->log().find("\"listening\""), std::string::npos) << proxy->log();
}

TEST_F(a_starting_process, reloads_once_it_serves_when_it_was_told_before) {
  start_on_a_silent_store();
  ::kill(proxy->pid(), SIGHUP);
  EXPECT_TRUE(eventually([&] { return proxy->log().find("configuration taken up") != std::string::npos; }));
  EXPECT_EQ(proxy->admin("/livez").status, 200);
}

}  // namespace
}  // namespace idem::test
