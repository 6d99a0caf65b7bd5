// What a duplicate gets while the first request runs, and after it (docs/protocol.md, "What a duplicate gets").
#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

class a_duplicate : public on_every_store {};
RUNS_ON_EVERY_STORE(a_duplicate);

TEST_P(a_duplicate, in_progress_is_refused_with_a_time_to_come_back) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("lease: 3s");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  const auto second = post("k");
  EXPECT_TRUE(is_problem(second, 409, "in-progress"));
  EXPECT_TRUE(says(second, "retryable", true));
  EXPECT_TRUE(says(second, "safe_new_key", false));
  EXPECT_EQ(second.value("Cache-Control"), "no-store");
  const auto seconds = second.value("Retry-After");
  EXPECT_TRUE(seconds == "1" || seconds == "2" || seconds == "3") << seconds;
  answer.open();
  const auto whole = first.get();
  EXPECT_TRUE(is_fresh(whole, 201));
  EXPECT_TRUE(is_replay(post("k"), whole));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_duplicate, in_progress_gets_202_where_the_route_says_accepted) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("in_flight: {respond: accepted}");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  const auto second = post("k");
  EXPECT_TRUE(is_problem(second, 202, "in-progress"));
  EXPECT_TRUE(second.has("Retry-After"));
  answer.open();
  EXPECT_TRUE(is_fresh(first.get(), 201));
}

TEST_P(a_duplicate, stays_in_progress_while_the_backend_is_slower_than_the_lease) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("lease: 1s, guarantee: at_least_once");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  const auto until = std::chrono::steady_clock::now() + 2500ms;
  while (std::chrono::steady_clock::now() < until) {
    ASSERT_TRUE(is_problem(post("k"), 409, "in-progress"));
    std::this_thread::sleep_for(100ms);
  }
  answer.open();
  const auto whole = first.get();
  EXPECT_TRUE(is_fresh(whole, 201));
  EXPECT_TRUE(is_replay(post("k"), whole));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_duplicate, with_another_body_is_a_mismatch_before_any_state) {
  gate answer;
  backend.on("/slow", held(answer, reply(201)));
  backend.on("/large", reply(200, std::string(2000, 'x')));
  backend.on("/lost", reset_connection());
  start("max_stored_body: 1KiB");
  const auto other = [&](const std::string& path) {
    auto request = charge(path, "{\"amount\":2}");
    request.target = path;
    return proxy->fetch(request);
  };
  const auto send = [&](const std::string& path) {
    auto request = charge(path);
    request.target = path;
    return proxy->fetch(request);
  };
  auto running = in_background([&] { return send("/slow"); });
  ASSERT_TRUE(backend.wait_for("/slow"));
  EXPECT_TRUE(is_problem(other("/slow"), 422, "key-reused")) << "in progress";
  answer.open();
  EXPECT_TRUE(is_fresh(running.get(), 201));
  EXPECT_TRUE(is_problem(other("/slow"), 422, "key-reused")) << "finished";
  send("/large");
  EXPECT_TRUE(is_problem(other("/large"), 422, "key-reused")) << "done without a body";
  send("/lost");
  EXPECT_TRUE(is_problem(other("/lost"), 422, "key-reused")) << "unknown";
  EXPECT_TRUE(says(other("/lost"), "safe_new_key", false));
  EXPECT_EQ(backend.count(), 3u);
}

TEST_P(a_duplicate, with_another_body_gets_the_status_that_the_route_names) {
  start("mismatch_status: 409");
  post("k");
  EXPECT_TRUE(is_problem(post("k", "other"), 409, "key-reused"));
}

TEST_P(a_duplicate, among_fifty_at_once_never_executes_and_never_hears_anything_but_the_answer_or_in_progress) {
  backend.on("*", delayed(100ms, reply(201, "made")));
  start();
  std::unique_ptr<proxy_process> other;
  if (GetParam() == store::redis) other = std::make_unique<proxy_process>(settings());
  std::vector<std::future<http_response>> all;
  for (int i = 0; i < 50; ++i) {
    const auto& at = other && i % 2 == 1 ? *other : *proxy;
    all.push_back(in_background([&at] { return at.fetch(charge("k")); }));
  }
  std::size_t fresh = 0;
  for (auto& one : all) {
    const auto r = one.get();
    ASSERT_TRUE(r.whole());
    EXPECT_TRUE(r.status == 201 || (r.status == 409 && r.has("Retry-After"))) << r.head;
    fresh += r.status == 201 && !r.has("Idempotent-Replayed") ? 1 : 0;
  }
  EXPECT_EQ(fresh, 1u);
  EXPECT_EQ(backend.count("k"), 1u);
  EXPECT_EQ(post("k").value("Idempotent-Replayed"), "true");
}

TEST_P(a_duplicate, that_waits_is_woken_by_the_answer_and_replays_it) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("in_flight: {respond: wait, wait: 10s}");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  std::vector<std::future<http_response>> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(in_background([&] { return post("k"); }));
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) == 5; }));
  answer.open();
  const auto whole = first.get();
  const auto opened = std::chrono::steady_clock::now();
  for (auto& w : waiting) EXPECT_TRUE(is_replay(w.get(), whole));
  EXPECT_LT(std::chrono::steady_clock::now() - opened, 900ms) << "woken, not found by the poll";
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_duplicate, that_waits_is_refused_at_the_limit_of_time_and_of_places) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("in_flight: {respond: wait, wait: 600ms, max_waiters: 1}");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  const auto began = std::chrono::steady_clock::now();
  auto waiting = in_background([&] { return post("k"); });
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) == 1; }));
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress"));
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout) << "the second waiter found no place and left at once";
  EXPECT_TRUE(is_problem(waiting.get(), 409, "in-progress"));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 600ms);
  answer.open();
  EXPECT_TRUE(is_fresh(first.get(), 201));
}

TEST_P(a_duplicate, that_waits_frees_its_place_when_its_client_goes_away) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("in_flight: {respond: wait, wait: 30s, max_waiters: 1}");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  auto gone = proxy->connect();
  gone.send(charge("k"));
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) == 1; }));
  gone.reset();
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(1) == 0; }));
  auto waiting = in_background([&] { return post("k"); });
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) == 1; }));
  answer.open();
  const auto whole = first.get();
  EXPECT_TRUE(is_replay(waiting.get(), whole));
}

TEST_P(a_duplicate, that_waits_is_refused_at_once_when_the_proxy_drains) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("in_flight: {respond: wait, wait: 30s}");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  auto waiting = in_background([&] { return post("k"); });
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) == 1; }));
  proxy->terminate();
  EXPECT_TRUE(is_problem(waiting.get(), 409, "in-progress"));
  EXPECT_EQ(first.wait_for(0s), std::future_status::timeout);
  answer.open();
  EXPECT_TRUE(is_fresh(first.get(), 201));
  EXPECT_EQ(proxy->wait_for_exit(), 0);
}

TEST_P(a_duplicate, that_waits_delays_no_other_key_and_a_mismatch_does_not_wait) {
  gate answer;
  backend.on("*", in_turn({held(answer, reply(201, "made")), reply(200)}));
  start("in_flight: {respond: wait, wait: 20s, max_waiters: 30}");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  std::vector<http_client> waiting;
  for (int i = 0; i < 30; ++i) {
    waiting.push_back(proxy->connect());
    waiting.back().send(charge("k"));
  }
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) == 30; }));
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress")) << "no place is left";
  EXPECT_TRUE(is_problem(post("k", "other"), 422, "key-reused"));
  EXPECT_TRUE(is_fresh(proxy->fetch(charge("other"), 2s), 200));
  answer.open();
  const auto whole = first.get();
  for (auto& w : waiting) EXPECT_TRUE(is_replay(w.read(), whole));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_P(a_duplicate, that_loses_the_race_with_another_body_is_still_a_mismatch) {
  backend.on("*", delayed(50ms, reply(201, "made")));
  start();
  std::vector<std::future<http_response>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(in_background([&, i] { return post("k", i % 2 == 0 ? "{\"amount\":1}" : "{\"amount\":2}"); }));
  }
  std::vector<http_response> got;
  for (auto& one : all) got.push_back(one.get());
  ASSERT_EQ(backend.count("k"), 1u);
  const std::size_t lost = backend.requests()[0].body == "{\"amount\":1}" ? 1 : 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (i % 2 == lost) {
      EXPECT_TRUE(is_problem(got[i], 422, "key-reused"));
    } else {
      EXPECT_TRUE(got[i].status == 201 || got[i].status == 409) << got[i].head;
    }
  }
}

TEST_P(a_duplicate, that_waited_for_a_released_answer_executes) {
  gate answer;
  backend.on("*", in_turn({held(answer, reply(503)), reply(201, "made")}));
  start("in_flight: {respond: wait, wait: 10s}");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  auto waiting = in_background([&] { return post("k"); });
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_waiters").value_or(0) == 1; }));
  answer.open();
  EXPECT_TRUE(is_fresh(first.get(), 503));
  EXPECT_TRUE(is_fresh(waiting.get(), 201));
  EXPECT_EQ(backend.count("k"), 2u);
}

TEST_P(a_duplicate, passes_where_the_route_only_observes) {
  start("mode: observe, key: {required: true}");
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_TRUE(is_fresh(post("k"), 200));
  EXPECT_TRUE(is_fresh(post("k", "other"), 200));
  EXPECT_TRUE(is_fresh(post(""), 200));
  EXPECT_TRUE(is_fresh(post("\"open"), 200));
  EXPECT_EQ(backend.count(), 5u);
  if (GetParam() == store::redis) {
    const auto names = shared_redis().command({"KEYS", "*"}).items;
    ASSERT_EQ(names.size(), 1u);
    EXPECT_TRUE(names[0].text.starts_with("idem:o:"));
    EXPECT_EQ(shared_redis().command({"GET", names[0].text}).text.find("ok"), std::string::npos) << "no body is kept";
  }
}

TEST_P(a_duplicate, that_asks_before_it_sends_is_left_to_the_application_where_the_route_only_observes) {
  start("mode: observe");
  EXPECT_TRUE(is_fresh(proxy->fetch(charge("k").with("Expect", "100-continue")), 200));
  ASSERT_EQ(backend.count(), 1u);
  EXPECT_EQ(backend.requests()[0].value("Expect"), "100-continue");
}

TEST_P(a_duplicate, of_nothing_past_the_bound_of_calls_in_flight_is_refused_before_the_claim) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  auto s = settings();
  s.server_more = "max_in_flight: 1";
  start(s);
  backend.on("/done", reply(201, "done"));
  auto done = charge("old");
  done.target = "/done";
  const auto finished = proxy->fetch(done);
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_in_flight").value_or(1) == 0; }));
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  const auto refused = post("new");
  EXPECT_TRUE(is_problem(refused, 503, "busy"));
  // only new keys are refused: what has a record is answered from it
  EXPECT_TRUE(is_replay(proxy->fetch(done), finished));
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress"));
  EXPECT_TRUE(says(refused, "safe_new_key", true));
  answer.open();
  EXPECT_TRUE(is_fresh(first.get(), 201));
  // a call counts until everything behind it is done, which its client does not wait for
  EXPECT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_in_flight").value_or(1) == 0; }));
  EXPECT_TRUE(is_fresh(post("new"), 201));
}

TEST_P(a_duplicate, of_an_unknown_outcome_is_not_taken_over_past_the_bound_of_calls_in_flight) {
  gate answer;
  backend.on("*", in_turn({reset_connection(), held(answer, reply(201, "made")), reply(201, "again")}));
  auto s = settings("guarantee: at_least_once");
  s.server_more = "max_in_flight: 1";
  start(s);
  EXPECT_TRUE(is_problem(post("u"), 502, "upstream-failed"));
  auto running = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  const auto refused = post("u");
  EXPECT_TRUE(is_problem(refused, 503, "busy"));
  EXPECT_TRUE(says(refused, "safe_new_key", false)) << "the first attempt may have executed";
  EXPECT_EQ(backend.count("u"), 1u);
  answer.open();
  EXPECT_TRUE(is_fresh(running.get(), 201));
  http_response again;
  EXPECT_TRUE(eventually([&] { return (again = post("u")).status != 503; }));
  EXPECT_TRUE(is_fresh(again, 201));
}

TEST_P(a_duplicate, of_nothing_is_let_in_while_a_client_takes_an_answer_slowly_that_is_stored) {
  const std::string much(15 * 1024 * 1024, 'x');  // more than sockets hold
  backend.on("*", in_turn({reply(201, much), reply(201, "made")}));
  auto s = settings("max_stored_body: 16MiB");
  s.server_more = "max_in_flight: 1";
  s.redis_more = "command_timeout: 5s";
  start(s);
  auto slow = proxy->connect();
  slow.send(charge("k"));
  ASSERT_TRUE(slow.wait_for("HTTP/1.1 201"));
  http_response other;
  EXPECT_TRUE(eventually([&] { return (other = post("new")).status != 503; }, 5s));
  EXPECT_TRUE(is_fresh(other, 201));
  const auto first = slow.read();
  EXPECT_TRUE(first.whole());
  EXPECT_EQ(first.body.size(), much.size());
}

using a_waiting_duplicate = on_redis;

TEST_F(a_waiting_duplicate, on_another_proxy_is_woken_too) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("in_flight: {respond: wait, wait: 10s}");
  proxy_process other(settings("in_flight: {respond: wait, wait: 10s}"));
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  auto waiting = in_background([&] { return other.fetch(charge("k")); });
  ASSERT_TRUE(eventually([&] { return other.metric("idempotency_proxy_waiters").value_or(0) == 1; }));
  answer.open();
  const auto whole = first.get();
  EXPECT_TRUE(is_replay(waiting.get(), whole));
  EXPECT_EQ(backend.count("k"), 1u);
}

}  // namespace
}  // namespace idem::test
