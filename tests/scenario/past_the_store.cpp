// Routes that go on without a store (on_store_error: allow): docs/protocol.md, "When the store fails".
#include "scenario/faulty_store.hpp"

namespace idem::test {
namespace {

TEST_F(a_faulty_store, that_is_gone_is_bypassed_where_the_route_allows_but_never_for_a_key_in_flight) {
  gate go;
  backend.on("*", held(go, reply(201, "made")));
  start_behind_relay("lease: 2s, on_store_error: allow", "command_timeout: 150ms, connect_timeout: 200ms");
  auto running = in_background([&] { return post("known"); });
  ASSERT_TRUE(backend.wait_for("known"));
  wire.blackhole(true);
  auto bypassed = in_background([&] { return post("new"); });
  ASSERT_TRUE(backend.wait_for("new"));
  EXPECT_TRUE(is_problem(post("known"), 503, "store-unavailable"));
  EXPECT_TRUE(is_problem(post("new"), 503, "store-unavailable"));
  go.open();
  const auto r = bypassed.get();
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.value("Idempotency-Status"), "bypassed");
  EXPECT_EQ(running.get().value("Idempotency-Status"), "not-stored");
  wire.blackhole(false);
  EXPECT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_backlog").value_or(1) == 0; }));
  for (const char* key : {"new", "known"}) {
    const auto again = post(key);
    EXPECT_EQ(again.value("Idempotent-Replayed"), "true") << key << ": completed in the background";
    EXPECT_EQ(again.body, "made");
    EXPECT_EQ(backend.count(key), 1u);
  }
}

/// Another process, with a way of its own to the store, has a call under way.
class a_store_that_others_reach : public a_faulty_store {
 protected:
  void SetUp() override {
    a_faulty_store::SetUp();
    backend.on("*", held(go, reply(201, "made")));
    other = std::make_unique<proxy_process>(settings(policy));
    running = in_background([&] { return other->fetch(charge("k")); });
    ASSERT_TRUE(backend.wait_for("k"));
  }
  /// Starts the process behind the relay, and waits until it has reached the store.
  void start_second(const std::string& redis_more) {
    start_behind_relay(policy, redis_more);
    ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_store_up").value_or(0) == 1; }));
  }
  void expect_one_execution() {
    go.open();
    EXPECT_TRUE(is_fresh(running.get(), 201));
    EXPECT_EQ(backend.count("k"), 1u);
  }

  const std::string policy = "lease: 4s, on_store_error: allow";
  gate go;
  std::unique_ptr<proxy_process> other;
  std::future<http_response> running;
};

TEST_F(a_store_that_others_reach, is_not_bypassed_when_it_goes_after_it_has_shown_their_call) {
  start_second("command_timeout: 150ms, connect_timeout: 200ms");
  // the claim is told what stands, and then nothing more
  wire.cut_after_reply_bytes(shared_redis().command({"GET", record_name()}).text.size() + 8);
  EXPECT_TRUE(is_problem(post("k"), 503, "store-unavailable"));
  expect_one_execution();
}

TEST_F(a_store_that_others_reach, is_asked_in_time_for_their_call_when_it_is_slow) {
  start_second("command_timeout: 1s");
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress")) << "the server has the script from now on";
  wire.delay(300ms);  // each way: two of the round trips that this takes do not fit into one timeout
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress"));
  wire.delay(0ms);
  expect_one_execution();
}

TEST_F(a_faulty_store, that_comes_back_lets_no_key_execute_that_was_let_past_it_and_still_runs) {
  gate go;
  backend.on("*", in_turn({reply(200), held(go, reply(201, "made")), reply(201, "twice")}));
  start_behind_relay("lease: 2s, on_store_error: allow", "command_timeout: 150ms, connect_timeout: 200ms");
  ASSERT_TRUE(is_fresh(post("warm"), 200));
  wire.blackhole(true);
  auto bypassed = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  wire.blackhole(false);
  ASSERT_TRUE(eventually([&] { return post("warm").has("Idempotent-Replayed"); }));
  const auto retry = post("k");
  EXPECT_TRUE(retry.status == 409 || retry.status == 503) << retry.head << retry.body;
  EXPECT_EQ(backend.count("k"), 1u);
  go.open();
  EXPECT_EQ(bypassed.get().value("Idempotency-Status"), "bypassed");
  http_response again;
  EXPECT_TRUE(eventually([&] { return (again = post("k")).has("Idempotent-Replayed"); }));
  EXPECT_EQ(again.body, "made");
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_F(a_faulty_store, that_comes_back_is_told_of_a_call_that_was_let_past_it_and_still_runs) {
  const std::string policy = "lease: 2s, on_store_error: allow";
  gate go;
  backend.on("*", in_turn({reply(200), held(go, reply(201, "made")), reply(201, "twice")}));
  start_behind_relay(policy, "command_timeout: 150ms, connect_timeout: 200ms");
  proxy_process other(settings(policy));
  ASSERT_TRUE(is_fresh(post("warm"), 200));
  shared_redis().command({"FLUSHALL"});
  wire.blackhole(true);
  auto bypassed = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  wire.blackhole(false);
  ASSERT_TRUE(record_becomes('P'));
  EXPECT_TRUE(is_problem(other.fetch(charge("k")), 409, "in-progress")) << "in every process";
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress"));
  go.open();
  EXPECT_EQ(bypassed.get().value("Idempotency-Status"), "bypassed");
  EXPECT_TRUE(record_becomes('S'));
  EXPECT_EQ(other.fetch(charge("k")).body, "made");
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_F(a_faulty_store, that_comes_back_while_a_call_that_was_let_past_it_cannot_connect_has_its_key_free_again) {
  relay silent(backend.port());
  silent.blackhole(true);
  auto s = settings("lease: 2s, on_store_error: allow");
  s.server_more = "threads: 1";
  s.redis_port = wire.port();
  s.redis_more = "command_timeout: 150ms, connect_timeout: 200ms";
  s.upstream = "https://127.0.0.1:" + std::to_string(silent.port());
  s.upstream_more = "connect_timeout: 5s";
  start(s);
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_store_up").value_or(0) == 1; }));
  wire.blackhole(true);
  auto bypassed = in_background([&] { return post("k"); });
  ASSERT_TRUE(eventually([&] { return silent.accepted() > 0; }));
  wire.blackhole(false);
  ASSERT_TRUE(record_becomes('P', 4s));
  EXPECT_TRUE(is_problem(bypassed.get(), 502, "upstream-unavailable"));
  EXPECT_TRUE(record_becomes('-')) << "nothing was sent";
}

/// Calls that this process runs are known here, whatever their route says of a store that is away.
class a_key_that_runs_here : public a_faulty_store {
 protected:
  static std::string route(const std::string& name, const std::string& on_store_error) {
    return "{name: " + name + ", match: {path: /" + name +
           "}, idempotency: {namespace: shared, lease: 4s, on_store_error: " + on_store_error + "}}";
  }
  void begin(std::vector<std::string> routes) {
    s = settings({});
    s.routes = std::move(routes);
    s.redis_port = wire.port();
    s.redis_more = "command_timeout: 150ms, connect_timeout: 200ms";
    start(s);
    ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_store_up").value_or(0) == 1; }));
  }
  http_response send(const std::string& path) {
    auto r = charge("k");
    r.target = path;
    return proxy->fetch(r);
  }
  std::future<http_response> run(const std::string& path) {
    backend.on("*", in_turn({held(go, reply(201, "made")), reply(201, "twice")}));
    auto running = in_background([this, path] { return send(path); });
    EXPECT_TRUE(backend.wait_for("k"));
    return running;
  }
  void expect_one_execution(std::future<http_response>& running) {
    go.open();
    EXPECT_EQ(running.get().body, "made");
    EXPECT_EQ(backend.count("k"), 1u);
  }

  proxy_settings s;
  gate go;
};

TEST_F(a_key_that_runs_here, is_not_let_past_the_store_by_another_route_of_its_namespace) {
  begin({route("strict", "reject"), route("lenient", "allow")});
  auto running = run("/strict");
  wire.blackhole(true);
  EXPECT_TRUE(is_problem(send("/lenient"), 503, "store-unavailable"));
  wire.blackhole(false);
  expect_one_execution(running);
}

TEST_F(a_key_that_runs_here, is_not_let_past_the_store_by_a_configuration_that_came_meanwhile) {
  begin({route("r", "reject")});
  auto running = run("/r");
  s.routes = {route("r", "allow")};
  proxy->reload(s);
  wire.blackhole(true);
  EXPECT_TRUE(is_problem(send("/r"), 503, "store-unavailable"));
  wire.blackhole(false);
  expect_one_execution(running);
}

TEST_F(a_key_that_runs_here, past_the_store_is_given_to_no_other_route_of_its_namespace_when_that_is_back) {
  begin({route("strict", "reject"), route("lenient", "allow")});
  wire.blackhole(true);
  auto running = run("/lenient");
  wire.blackhole(false);
  http_response retry;
  EXPECT_TRUE(eventually([&] { return (retry = send("/strict")).status != 503; })) << "its record comes with a renewal";
  EXPECT_TRUE(is_problem(retry, 422, "key-reused")) << "the path is another";
  expect_one_execution(running);
}

TEST_F(a_key_that_runs_here, past_the_store_is_not_given_away_by_a_configuration_that_came_meanwhile) {
  begin({route("r", "allow")});
  wire.blackhole(true);
  auto running = run("/r");
  s.routes = {route("r", "reject")};
  proxy->reload(s);
  wire.blackhole(false);
  http_response retry;
  EXPECT_TRUE(eventually([&] { return (retry = send("/r")).status != 503; }));
  EXPECT_TRUE(is_problem(retry, 409, "in-progress"));
  expect_one_execution(running);
}

}  // namespace
}  // namespace idem::test
