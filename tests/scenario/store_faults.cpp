// The store is slow, loses replies, goes away or forgets: docs/protocol.md, "Store before the last byte".
#include <sstream>

#include "scenario/faulty_store.hpp"

namespace idem::test {
namespace {

TEST_F(a_faulty_store, that_is_slow_has_the_answer_before_the_client_has_all_of_it) {
  start_behind_relay("lease: 4s", "command_timeout: 1s");
  for (const auto how : {framing::length, framing::chunked}) {
    const std::string key = how == framing::length ? "length" : "chunked";
    shared_redis().command({"FLUSHALL"});
    gate rest;
    const auto bytes = answer_bytes(201, "0123456789", {}, how);
    const auto half = bytes.find("01234") + 5;
    backend.on("*", both(raw(bytes.substr(0, half)), held(rest, raw(bytes.substr(half)))));
    auto client = proxy->connect();
    client.send(charge(key));
    ASSERT_TRUE(client.wait_for("0123")) << "what is not the last byte goes out at once";
    wire.delay(200ms);
    rest.open();
    const auto answer = client.read();
    const char state = record_state();
    wire.delay(0ms);
    EXPECT_TRUE(is_fresh(answer, 201)) << key;
    EXPECT_EQ(answer.body, "0123456789");
    EXPECT_EQ(state, 'S') << key << ": the client had the whole answer first";
    EXPECT_TRUE(is_replay(post(key), answer));
  }
}

TEST_F(a_faulty_store, that_is_slow_has_an_answer_that_was_there_whole_before_the_client_has_any_of_it) {
  gate go;
  backend.on("*", held(go, reply(201, "made")));
  start_behind_relay("lease: 4s", "command_timeout: 1s");
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(backend.wait_for("k"));
  wire.delay(200ms);
  go.open();
  ASSERT_TRUE(client.wait_for("HTTP/1.1 201"));
  EXPECT_EQ(record_state(), 'S');
  wire.delay(0ms);
}

TEST_F(a_faulty_store, that_one_of_two_threads_has_lost_is_not_called_up) {
  redis_server server;
  relay between(server.port());
  auto s = settings();
  s.server_more = "threads: 2";
  s.redis_port = between.port();
  start(s);
  const auto up = [&] { return proxy->metric("idempotency_proxy_store_up"); };
  ASSERT_TRUE(eventually([&] { return up() == 1; }));
  EXPECT_NE(proxy->admin("/readyz").body.find("store: up"), std::string::npos);
  between.refuse(true);
  const auto clients = server.command({"CLIENT", "LIST", "TYPE", "normal"}).text;
  std::istringstream lines(clients);
  std::string client;
  do ASSERT_TRUE(std::getline(lines, client)) << clients;
  while (client.find("cmd=client") != std::string::npos);
  server.command({"CLIENT", "KILL", "ID", client.substr(3, client.find(' ') - 3)});
  ASSERT_TRUE(eventually([&] { return up() == 0; }));
  EXPECT_NE(proxy->admin("/readyz").body.find("store: down"), std::string::npos);
}

TEST_F(a_faulty_store, that_swallows_the_completion_marks_the_answer_and_gets_it_later) {
  for (const bool streams : {false, true}) {
    SCOPED_TRACE(streams ? "chunked" : "whole");
    shared_redis().command({"FLUSHALL"});
    gate go;
    const std::string head = "HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
    if (streams) {
      backend.on("*", both(raw(head), held(go, raw("3\r\ndef\r\n0\r\n\r\n"))));
    } else {
      backend.on("*", held(go, reply(201, "abcdef")));
    }
    proxy.reset();
    start_behind_relay("lease: 2s", "command_timeout: 150ms, connect_timeout: 200ms");
    auto client = proxy->connect();
    client.send(charge("k"));
    ASSERT_TRUE(backend.wait_for(streams ? 2 : 1));
    if (streams) ASSERT_TRUE(client.wait_for("ab"));
    wire.blackhole(true);
    go.open();
    const auto answer = client.read();
    EXPECT_TRUE(answer.whole());
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.body, "abcdef");
    if (streams) {
      EXPECT_EQ(answer.trailers, (field_lines{{"Idempotency-Status", "not-stored"}}));
    } else {
      EXPECT_EQ(answer.value("Idempotency-Status"), "not-stored");
    }
    EXPECT_EQ(record_state(), 'P');
    wire.blackhole(false);
    ASSERT_TRUE(record_becomes('S'));
    http_response again;
    ASSERT_TRUE(eventually([&] { return (again = post("k")).status != 503; }));
    EXPECT_EQ(again.value("Idempotent-Replayed"), "true");
    EXPECT_EQ(again.body, "abcdef");
    EXPECT_EQ(backend.count("k"), streams ? 2u : 1u) << "one for each round";
  }
}

TEST_F(a_faulty_store, that_swallows_an_answer_without_its_body_marks_the_head_of_that) {
  const std::string large(5000, 'x');
  const std::pair<std::string, script> answers[] = {
      {"length", raw("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + large)},
      {"chunked", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n" + large + "\r\n0\r\n\r\n")},
      {"until-close", raw_then_close("HTTP/1.1 200 OK\r\n\r\n" + large)},
  };
  for (const auto& [name, answer] : answers) {
    SCOPED_TRACE(name);
    shared_redis().command({"FLUSHALL"});
    gate go;
    backend.on("*", held(go, answer));
    proxy.reset();
    start_behind_relay("lease: 2s, max_stored_body: 1KiB", "command_timeout: 150ms, connect_timeout: 200ms");
    auto client = proxy->connect();
    client.send(charge(name));
    ASSERT_TRUE(backend.wait_for(name));
    wire.blackhole(true);
    go.open();
    const auto r = client.read();
    EXPECT_TRUE(r.whole());
    EXPECT_EQ(r.body, large);
    EXPECT_EQ(r.value("Idempotency-Status"), "not-stored");
    wire.blackhole(false);
    EXPECT_TRUE(record_becomes('X'));
  }
}

TEST_F(a_faulty_store, that_loses_the_reply_of_a_claim_finds_the_own_token_again) {
  start_behind_relay("lease: 2s", "command_timeout: 200ms, connect_timeout: 200ms");
  ASSERT_TRUE(is_fresh(post("warm"), 200));
  shared_redis().command({"FLUSHALL"});
  wire.swallow_replies(true);
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(record_becomes('P'));
  wire.swallow_replies(false);
  const auto r = first.get();
  EXPECT_TRUE(r.status == 200 || r.status == 503) << r.head;
  http_response again;
  ASSERT_TRUE(eventually([&] { return (again = post("k")).status == 200; }));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_F(a_faulty_store, that_is_gone_lets_nothing_execute_and_nothing_hang) {
  start_behind_relay("lease: 2s", "command_timeout: 200ms, connect_timeout: 200ms");
  ASSERT_TRUE(is_fresh(post("warm"), 200));
  wire.blackhole(true);
  const auto began = std::chrono::steady_clock::now();
  const auto r = post("k");
  EXPECT_TRUE(is_problem(r, 503, "store-unavailable"));
  EXPECT_TRUE(r.has("Retry-After"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
  EXPECT_EQ(backend.count("k"), 0u);
  http_request get;
  get.method = "GET";
  EXPECT_TRUE(is_fresh(proxy->fetch(get), 200)) << "what is not idempotent passes";
  wire.blackhole(false);
  EXPECT_TRUE(eventually([&] { return post("k").status == 200; }));
}

TEST_F(a_faulty_store, that_comes_back_is_told_that_a_stream_is_done_while_that_goes_on) {
  gate end;
  backend.on("*", both(raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"),
                       both(raw("3\r\none\r\n"), held(end, raw("3\r\ntwo\r\n0\r\n\r\n")))));
  gate go;
  backend.on_head("*", [&](const backend_request&, backend_connection&) { go.wait(); });
  start_behind_relay("lease: 2s", "command_timeout: 150ms, connect_timeout: 200ms");
  ASSERT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_store_up").value_or(0) == 1; }));
  auto client = proxy->connect();
  client.send(charge("k"));
  ASSERT_TRUE(record_becomes('P'));
  ASSERT_TRUE(eventually([&] { return backend.heads() == 1; })) << "the proxy knows that it has the key";
  wire.blackhole(true);
  go.open();
  ASSERT_TRUE(client.wait_for("one")) << "a store that is away does not hold a stream up";
  EXPECT_EQ(record_state(), 'P');
  wire.blackhole(false);
  EXPECT_TRUE(record_becomes('X')) << "a process that dies now must not leave a key that is taken over";
  end.open();
  const auto r = client.read();
  EXPECT_TRUE(r.whole());
  EXPECT_EQ(r.body, "onetwo");
  EXPECT_TRUE(r.trailers.empty());
  EXPECT_EQ(record_state(), 'X');
}

TEST_F(a_faulty_store, that_takes_no_writes_still_serves_replays_and_lets_nothing_new_execute) {
  start("lease: 2s, on_store_error: reject");
  const auto first = post("k");
  shared_redis().command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(is_replay(post("k"), first));
  EXPECT_TRUE(is_problem(post("k", "other"), 422, "key-reused"));
  EXPECT_TRUE(is_problem(post("new"), 503, "store-unavailable"));
  EXPECT_TRUE(is_replay(post("k"), first));
  shared_redis().command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(backend.count("new"), 0u);
  EXPECT_TRUE(eventually([&] { return post("new").status == 200; }));
}

TEST_F(a_faulty_store, that_forgets_a_record_in_flight_gets_it_again) {
  gate go;
  backend.on("*", held(go, reply(201, "made")));
  start("lease: 1s");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  shared_redis().command({"FLUSHALL"});
  EXPECT_TRUE(record_becomes('P', 2s)) << "the renewal makes it again";
  shared_redis().command({"FLUSHALL"});
  go.open();
  const auto answer = first.get();
  EXPECT_TRUE(is_fresh(answer, 201));
  EXPECT_EQ(record_state(), 'S');
  EXPECT_TRUE(is_replay(post("k"), answer));
  EXPECT_GE(proxy->metric("idempotency_proxy_records_recreated_total").value_or(0), 1);
}

TEST_F(a_faulty_store, that_forgets_its_scripts_learns_them_again) {
  start();
  post("warm");
  shared_redis().command({"SCRIPT", "FLUSH"});
  const auto first = post("k");
  EXPECT_TRUE(is_fresh(first, 200));
  EXPECT_TRUE(is_replay(post("k"), first));
}

using a_record = on_redis;

TEST_F(a_record, costs_two_round_trips_and_a_replay_one) {
  start();
  ASSERT_TRUE(is_fresh(post("warm"), 200));
  auto& redis = shared_redis();
  redis.command({"CONFIG", "RESETSTAT"});
  ASSERT_TRUE(is_fresh(post("k"), 200));
  EXPECT_EQ(redis.calls("evalsha"), 1);
  EXPECT_EQ(redis.calls("eval"), 0);
  EXPECT_EQ(redis.calls("get"), 0) << "the script compares without copying the body";
  EXPECT_EQ(redis.calls("pttl"), 0);
  EXPECT_EQ(redis.calls("set"), 2) << "the claim, and the completion in its script";
  redis.command({"CONFIG", "RESETSTAT"});
  ASSERT_TRUE(post("k").has("Idempotent-Replayed"));
  EXPECT_EQ(redis.calls("evalsha"), 0);
  EXPECT_EQ(redis.calls("set"), 1);
  EXPECT_EQ(redis.calls("get"), 0);
  EXPECT_EQ(redis.calls("pttl"), 0);
}

/// A call under way, whose record becomes the answer of another attempt before the backend says anything.
class a_record_of_another : public on_redis {
 protected:
  /// The client's answer, when the backend does `then`.
  http_response answer_when_backend_does(script then) {
    gate go;
    backend.on("*", in_turn({reply(201, "theirs"), held(go, std::move(then))}));
    start();
    EXPECT_TRUE(is_fresh(post("k"), 201));
    const auto name = record_name(), theirs = shared_redis().command({"GET", name}).text;
    shared_redis().command({"DEL", name});
    auto call = in_background([&] { return post("k"); });
    EXPECT_TRUE(record_becomes('P'));
    shared_redis().command({"SET", name, theirs, "PX", "60000"});
    go.open();
    auto r = call.get();
    EXPECT_EQ(shared_redis().command({"GET", name}).text, theirs) << "it stays";
    EXPECT_EQ(backend.count("k"), 2u);
    return r;
  }
};

TEST_F(a_record_of_another, is_the_answer_when_the_own_one_comes_too_late) {
  const auto r = answer_when_backend_does(reply(201, "ours"));
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.body, "theirs");
  EXPECT_EQ(r.value("Idempotent-Replayed"), "true");
  EXPECT_EQ(proxy->metric("idempotency_proxy_completions_lost_total"), 1);
}

TEST_F(a_record_of_another, is_the_answer_when_the_backend_gives_none) {
  const auto r = answer_when_backend_does(close_connection());
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.body, "theirs");
  EXPECT_EQ(r.value("Idempotent-Replayed"), "true");
}

/// A call whose backend takes the connection and never says a word of TLS, so that nothing is sent. Meanwhile its
/// record becomes another's.
class a_call_that_never_connects : public on_redis {
 protected:
  http_response answer_when_the_record_becomes(const std::function<std::string(std::string)>& of) {
    silent.blackhole(true);
    auto s = settings();
    s.upstream = "https://127.0.0.1:" + std::to_string(silent.port());
    s.upstream_more = "connect_timeout: 1s";
    start(s);
    auto call = in_background([&] { return post("k"); });
    EXPECT_TRUE(record_becomes('P'));
    const auto name = record_name();
    shared_redis().command({"SET", name, of(shared_redis().command({"GET", name}).text), "PX", "60000"});
    return call.get();
  }

  relay silent{backend.port()};
};

TEST_F(a_call_that_never_connects, may_be_made_again_with_another_key) {
  const auto r = answer_when_the_record_becomes([](const std::string& own) { return own; });
  EXPECT_TRUE(is_problem(r, 502, "upstream-unavailable"));
  EXPECT_NE(r.body.find("\"safe_new_key\":true"), std::string::npos) << r.body;
}

TEST_F(a_call_that_never_connects, keeps_its_lease_as_long_as_it_tries) {
  silent.blackhole(true);
  auto s = settings("lease: 1s");
  s.upstream = "https://127.0.0.1:" + std::to_string(silent.port());
  s.upstream_more = "connect_timeout: 3s";
  start(s);
  auto call = in_background([&] { return post("k"); });
  EXPECT_TRUE(record_becomes('P'));
  EXPECT_TRUE(eventually([&] { return proxy->metric("idempotency_proxy_lease_renewals_total").value_or(0) >= 4; }));
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress")) << "more than a lease later";
  EXPECT_TRUE(is_problem(call.get(), 502, "upstream-unavailable"));
  EXPECT_EQ(record_state(), '-') << "no renewal came behind the release";
}

TEST_F(a_call_that_never_connects, may_not_when_another_attempt_has_the_key) {
  const auto r = answer_when_the_record_becomes([](std::string own) {
    auto& first_of_the_token = own.at(10);
    first_of_the_token = first_of_the_token == 'a' ? 'b' : 'a';
    return own;
  });
  EXPECT_TRUE(is_problem(r, 502, "upstream-unavailable"));
  EXPECT_NE(r.body.find("\"safe_new_key\":false"), std::string::npos) << r.body;
}

TEST_F(a_call_that_never_connects, gets_the_answer_of_another_attempt) {
  backend.on("*", reply(201, "theirs"));
  start();
  ASSERT_TRUE(is_fresh(post("k"), 201));
  const auto theirs = shared_redis().command({"GET", record_name()}).text;
  shared_redis().command({"FLUSHALL"});
  const auto r = answer_when_the_record_becomes([&](const std::string&) { return theirs; });
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.body, "theirs");
  EXPECT_EQ(r.value("Idempotent-Replayed"), "true");
}

TEST_F(a_record, hides_the_key_and_lives_as_long_as_its_state_says) {
  gate go;
  backend.on("*", held(go, reply(201, "made")));
  start("lease: 9s, hold: 100s, retention: 1000s");
  auto first = in_background([&] { return post("secret-key"); });
  ASSERT_TRUE(backend.wait_for("secret-key"));
  const auto ttl = [&] { return shared_redis().command({"PTTL", record_name()}).integer; };
  EXPECT_EQ(record_name().find("secret"), std::string::npos);
  EXPECT_TRUE(record_name().starts_with("idem:{") && record_name().ends_with("}"));
  EXPECT_GT(ttl(), 100'000);
  EXPECT_LE(ttl(), 109'000);
  go.open();
  EXPECT_TRUE(is_fresh(first.get(), 201));
  EXPECT_GT(ttl(), 990'000);
  EXPECT_EQ(shared_redis().command({"GET", record_name()}).text.find("secret"), std::string::npos);
  EXPECT_EQ(proxy->log().find("secret-key"), std::string::npos);
}

TEST_F(a_record, that_an_operator_revoked_is_honoured_and_the_answer_of_its_owner_still_counts) {
  gate go;
  backend.on("*", held(go, reply(201, "made")));
  start("lease: 1s");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  auto& redis = shared_redis();
  const auto renewals = [&] { return proxy->metric("idempotency_proxy_lease_renewals_total").value_or(0); };
  const auto before = renewals();
  redis.command({"SETRANGE", record_name(), "3", "R"});
  redis.command({"PEXPIRE", record_name(), "30000"});
  const auto r = post("k");
  EXPECT_TRUE(is_problem(r, 409, "in-progress"));
  EXPECT_GE(std::stoi(r.value("Retry-After")), 28) << "what is left of the state";
  EXPECT_TRUE(is_problem(post("k", "other"), 422, "key-reused"));
  ASSERT_TRUE(eventually([&] { return renewals() > before; }));
  EXPECT_EQ(record_state(), 'R') << "a renewal does not take it back";
  go.open();
  const auto answer = first.get();
  EXPECT_TRUE(is_fresh(answer, 201));
  EXPECT_EQ(record_state(), 'S');
  EXPECT_TRUE(is_replay(post("k"), answer));
}

TEST_F(a_record, of_a_foreign_version_or_with_damage_is_never_executed_over) {
  start();
  ASSERT_TRUE(is_fresh(post("k"), 200));
  const auto name = record_name();
  auto& redis = shared_redis();
  auto damaged = redis.command({"GET", name}).text;
  redis.command({"SETRANGE", name, "1", "9"});
  EXPECT_TRUE(is_problem(post("k"), 503, "store-unavailable"));
  EXPECT_EQ(redis.command({"GET", name}).text.substr(0, 3), "i9 ");
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  redis.command({"SET", name, damaged});
  EXPECT_TRUE(is_problem(post("k"), 409, "answer-not-kept"));
  EXPECT_EQ(backend.count("k"), 1u);
}

TEST_F(a_record, that_is_foreign_is_named_in_the_log_but_not_with_each_request) {
  start();
  ASSERT_TRUE(is_fresh(post("a-key-of-a-client"), 200));
  const auto name = record_name();
  auto& redis = shared_redis();
  redis.command({"DEL", name});
  redis.command({"RPUSH", name, "no string"});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(is_problem(post("a-key-of-a-client"), 503, "store-unavailable"));
  const std::string line = "\"route\":\"api\",\"record\":\"" + name + "\"";
  ASSERT_TRUE(eventually([&] { return proxy->log().find(line) != std::string::npos; })) << proxy->log();
  const auto log = proxy->log();
  EXPECT_EQ(log.find(line), log.rfind(line)) << "once in a while is enough";
  EXPECT_EQ(log.find("a-key-of-a-client"), std::string::npos);
}

TEST_F(a_record, that_nobody_can_date_is_an_unknown_outcome_and_never_taken_over) {
  backend.on("*", in_turn({reset_connection(), reply(201, "never")}));
  start("guarantee: at_least_once");
  EXPECT_TRUE(is_problem(post("k"), 502, "upstream-failed"));
  ASSERT_EQ(record_state(), 'U');
  shared_redis().command({"PERSIST", record_name()});
  EXPECT_TRUE(is_problem(post("k"), 409, "outcome-unknown"));
  EXPECT_EQ(backend.count("k"), 1u);
}

}  // namespace
}  // namespace idem::test
