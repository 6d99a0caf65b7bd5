// What an operator does about one key from the command line, while the proxy runs.
#include "scenario/operator_commands.hpp"
#include "support/relay.hpp"

namespace idem::test {
namespace {

TEST_F(an_operator, sees_the_record_of_a_key_by_key_and_by_hash) {
  backend.on("*", reply(201, "made"));
  start();
  ASSERT_TRUE(is_fresh(post("k-1"), 201));
  const auto by_key = key("show", "--key k-1");
  EXPECT_EQ(by_key.code, 0) << by_key.text;
  EXPECT_NE(by_key.text.find("SUCCEEDED"), std::string::npos) << by_key.text;
  EXPECT_NE(by_key.text.find("201, 4 bytes"), std::string::npos) << by_key.text;
  const auto name = record_name();
  const auto hash = name.substr(name.find('{') + 1, 43);
  EXPECT_EQ(key("show", "--hash " + hash).text, by_key.text);
}

/// What `key show` says under a title, or nothing.
std::string told(const std::string& text, const std::string& title) {
  const auto at = text.find("\n" + title + " ");
  if (at == std::string::npos) return {};
  const auto value = text.find_first_not_of(' ', at + 1 + title.size());
  return text.substr(value, text.find('\n', value) - value);
}

TEST_F(an_operator, sees_how_old_a_record_is_and_what_a_retry_gets) {
  gate answer;
  backend.on("*", in_turn({close_connection(), reply(201, "made"), held(answer, reply(200))}));
  start("lease: 30s");
  const auto retry_of = [&](const std::string& k) { return told(key("show", "--key " + k).text, "retry gets"); };
  EXPECT_EQ(post("lost").status, 502);
  EXPECT_EQ(retry_of("lost"), "409 outcome-unknown");
  ASSERT_TRUE(is_fresh(post("done"), 201));
  EXPECT_EQ(retry_of("done"), "the stored answer, 201");
  auto running = in_background([&] { return post("runs"); });
  ASSERT_TRUE(backend.wait_for("runs"));
  EXPECT_EQ(retry_of("runs"), "409 in-progress");
  ASSERT_EQ(key("release", "--key runs --reason stuck").code, 0);
  EXPECT_EQ(retry_of("runs"), "409 in-progress") << "revoked";
  answer.open();
  running.get();
  EXPECT_TRUE(eventually([&] {
    const auto age = told(key("show", "--key lost").text, "age");
    return !age.empty() && age != "0 s";
  }));
}

TEST_F(an_operator, sees_that_a_retry_of_an_unknown_outcome_executes_where_route_and_record_allow_it) {
  backend.on("*", close_connection());
  start("guarantee: at_least_once");
  EXPECT_EQ(post("k").status, 502);
  EXPECT_EQ(told(key("show", "--key k").text, "retry gets"), "is executed, as attempt 2");
}

TEST_F(an_operator, is_told_that_there_is_no_record) {
  start();
  EXPECT_EQ(key("show", "--key never-seen").code, 2);
  EXPECT_EQ(key("release", "--key never-seen --reason test").code, 2);
}

TEST_F(an_operator, needs_the_scope_to_find_the_key_of_a_caller) {
  backend.on("*", reply(201, "made"));
  start();
  ASSERT_TRUE(is_fresh(proxy->fetch(charge("k").with("Authorization", "Bearer alice")), 201));
  EXPECT_EQ(key("show", "--key k").code, 2);
  EXPECT_EQ(key("show", "--key k --scope 'Authorization=Bearer alice'").code, 0);
}

TEST_F(an_operator, gives_an_unknown_outcome_the_answer_that_every_retry_gets) {
  backend.on("*", close_connection());
  start("lease: 1s");
  EXPECT_EQ(post("k").status, 502);
  ASSERT_TRUE(is_problem(post("k"), 409, "outcome-unknown"));
  const auto file = proxy->folder().write("answer.json", "{\"id\":7}");
  const auto done = key("resolve",
                        "--key k --reason 'found in the ledger' --status 201 "
                        "--header 'Content-Type: application/json' --body " +
                            file);
  EXPECT_EQ(done.code, 0) << done.text;
  const auto retry = post("k");
  EXPECT_EQ(retry.status, 201);
  EXPECT_EQ(retry.reason, "Created");
  EXPECT_EQ(retry.body, "{\"id\":7}");
  EXPECT_EQ(retry.value("Idempotent-Replayed"), "true");
  EXPECT_EQ(backend.count("k"), 1u);
  EXPECT_EQ(key("resolve", "--key k --reason again --status 200").code, 3) << "it has an answer now";
}

TEST_F(an_operator, gives_an_answer_that_is_kept_for_as_long_as_the_key_was_claimed_for) {
  backend.on("*", in_turn({close_connection(), close_connection(), reply(201, "another order")}));
  start("lease: 1s, key: {from: [\"header:Idempotency-Key\", fingerprint], fingerprint_ttl: 20s}");
  const auto resolve = [&] {
    const auto name = record_name();
    const auto hash = name.substr(name.find('{') + 1, 43);
    const auto done = key("resolve", "--hash " + hash + " --reason r --status 200");
    EXPECT_EQ(done.code, 0) << done.text;
    return shared_redis().command({"PTTL", name}).integer;
  };
  EXPECT_EQ(post("").status, 502);
  EXPECT_LE(resolve(), 20'000) << "a second wish is not a retry";
  shared_redis().command({"FLUSHALL"});
  EXPECT_EQ(post("k").status, 502);
  EXPECT_GT(resolve(), 20'000);
}

TEST_F(an_operator, cannot_give_an_answer_that_would_break_the_connection_of_a_retry) {
  backend.on("*", close_connection());
  start("lease: 1s");
  EXPECT_EQ(post("k").status, 502);
  const std::pair<const char*, const char*> refused[] = {{"'Content-Length: 3'", "'Content-Length'"},
                                                         {"'transfer-encoding: chunked'", "'transfer-encoding'"},
                                                         {"'Connection: close'", "'Connection'"},
                                                         {"'Keep-Alive: timeout=5'", "'Keep-Alive'"},
                                                         {"'Upgrade: h2c'", "'Upgrade'"},
                                                         {"'Trailer: X'", "'Trailer'"},
                                                         {"'Idempotency-Status: done'", "'Idempotency-Status'"},
                                                         {"'Idempotent-Replayed: false'", "'Idempotent-Replayed'"},
                                                         {"\"$(printf 'X-A: a\\r\\nX-B: b')\"", "'X-A'"},
                                                         {"\"$(printf 'X-A: a\\033b')\"", "'X-A'"},
                                                         {"'X A: a'", "'X A'"},
                                                         {"': a'", "''"},
                                                         {"'no colon'", "'no colon'"}};
  for (const auto& [header, named] : refused) {
    const auto tried = key("resolve", std::string("--key k --reason r --status 200 --header ") + header);
    EXPECT_EQ(tried.code, 1) << header;
    EXPECT_NE(tried.text.find(std::string("--header ") + named), std::string::npos) << tried.text;
  }
  EXPECT_EQ(record_state(), 'U') << "nothing is stored";
}

TEST_F(an_operator, can_give_a_status_that_has_no_name) {
  backend.on("*", close_connection());
  start("lease: 1s");
  EXPECT_EQ(post("k").status, 502);
  ASSERT_EQ(key("resolve", "--key k --reason r --status 299 --header 'X-A:1 '").code, 0);
  const auto retry = post("k");
  EXPECT_EQ(retry.status, 299);
  EXPECT_EQ(retry.reason, "");
  EXPECT_EQ(retry.value("X-A"), "1");
}

TEST_F(an_operator, frees_an_unknown_outcome_once_it_is_a_lease_old) {
  backend.on("*", in_turn({close_connection(), reply(201, "made")}));
  start("lease: 1s");
  EXPECT_EQ(post("k").status, 502);
  EXPECT_EQ(key("release", "--key k --reason early").code, 3) << "its owner may still be writing";
  EXPECT_TRUE(eventually([&] { return key("release", "--key k --reason 'not in the ledger'").code == 0; }));
  EXPECT_TRUE(is_fresh(post("k"), 201));
}

TEST_F(an_operator, revokes_a_running_attempt_and_its_owner_honours_it) {
  gate answer;
  backend.on("*", held(answer, reply(201, "made")));
  start("lease: 1s");
  auto first = in_background([&] { return post("k"); });
  ASSERT_TRUE(backend.wait_for("k"));
  EXPECT_EQ(key("release", "--key k --reason stuck").code, 0);
  EXPECT_EQ(record_state(), 'R');
  EXPECT_TRUE(is_problem(post("k"), 409, "in-progress"));
  answer.open();
  const auto whole = first.get();
  EXPECT_TRUE(is_fresh(whole, 201));
  EXPECT_TRUE(is_replay(post("k"), whole)) << "a living owner's answer still counts";
}

TEST_F(an_operator, changes_nothing_of_a_key_that_has_an_answer_or_a_living_owner) {
  gate answer;
  backend.on("*", in_turn({reply(201, "made"), held(answer, reply(200, "late"))}));
  start("lease: 5s");
  const auto release = [&](const std::string& k) { return key("release", "--key " + k + " --reason r").code; };
  const auto resolve = [&](const std::string& k) {
    return key("resolve", "--key " + k + " --reason r --status 200").code;
  };
  const auto done = post("done");
  ASSERT_TRUE(is_fresh(done, 201));
  EXPECT_EQ(release("done"), 3);
  EXPECT_EQ(resolve("done"), 3);
  EXPECT_TRUE(is_replay(post("done"), done));
  EXPECT_EQ(backend.count("done"), 1u);

  shared_redis().command({"FLUSHALL"});
  auto running = in_background([&] { return post("runs"); });
  ASSERT_TRUE(backend.wait_for("runs"));
  EXPECT_EQ(resolve("runs"), 3);
  EXPECT_EQ(record_state(), 'P');
  ASSERT_EQ(release("runs"), 0);
  EXPECT_EQ(release("runs"), 3) << "twice";
  EXPECT_EQ(resolve("runs"), 3) << "its owner may still answer";
  EXPECT_EQ(record_state(), 'R');
  answer.open();
  const auto late = running.get();
  EXPECT_TRUE(is_fresh(late, 200));
  EXPECT_TRUE(is_replay(post("runs"), late));
}

TEST_F(an_operator, is_told_that_nothing_was_changed_where_the_store_takes_no_writes) {
  backend.on("*", close_connection());
  start("lease: 1s");
  EXPECT_EQ(post("k").status, 502);
  shared_redis().command({"CONFIG", "SET", "maxmemory", "1"});
  const auto tried = key("resolve", "--key k --reason r --status 200");
  shared_redis().command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(tried.code, 1);
  EXPECT_NE(tried.text.find("the store takes no writes; nothing was changed"), std::string::npos) << tried.text;
  EXPECT_EQ(tried.text.find("an operator"), std::string::npos) << tried.text;
  EXPECT_EQ(record_state(), 'U');
}

/// The records that waiters are woken for from now on.
class wakes {
 public:
  wakes() { client_.command({"PSUBSCRIBE", "idem:w:*"}); }
  std::string next() {
    const auto v = client_.read();
    return v.items.size() == 4 ? v.items[3].text : std::string();
  }

 private:
  redis_client client_{shared_redis().port()};
};

TEST_F(an_operator, wakes_those_who_wait_with_each_step) {
  gate answer;
  backend.on("*", in_turn({held(answer, reply(200)), close_connection(), hang()}));
  start("lease: 1s, in_flight: {respond: wait, wait: 5s}");
  auto running = in_background([&] { return post("runs"); });
  ASSERT_TRUE(backend.wait_for("runs"));
  const auto runs = record_name();
  {
    wakes heard;
    ASSERT_EQ(key("release", "--key runs --reason stuck").code, 0);
    EXPECT_EQ(heard.next(), runs) << "revoked";
    answer.open();
    running.get();
    EXPECT_EQ(heard.next(), runs) << "and answered by its owner";
  }
  shared_redis().command({"FLUSHALL"});
  EXPECT_EQ(post("lost").status, 502);
  const auto lost = record_name();
  wakes heard;
  ASSERT_TRUE(eventually([&] { return key("release", "--key lost --reason 'not done'").code == 0; }));
  EXPECT_EQ(heard.next(), lost) << "released";

  auto client = proxy->connect();
  client.send(charge("lapses"));
  ASSERT_TRUE(backend.wait_for("lapses"));
  const auto lapses = record_name();
  proxy->kill();
  ASSERT_TRUE(eventually([&] { return key("resolve", "--key lapses --reason r --status 200").code == 0; }));
  for (const auto* step : {"revoked", "declared", "resolved"}) EXPECT_EQ(heard.next(), lapses) << step;
}

TEST_F(an_operator, is_recorded_after_a_change_and_only_if_there_was_one) {
  backend.on("*", close_connection());
  start("lease: 1s");
  EXPECT_EQ(post("k").status, 502);
  const auto written = [](const outcome& o) {
    return o.text.find("an operator changed a record") != std::string::npos;
  };
  const auto early = key("release", "--key k --reason early");
  ASSERT_EQ(early.code, 3) << "too young";
  EXPECT_FALSE(written(early)) << early.text;
  const auto done = key("resolve", "--key k --reason 'found in the ledger' --status 404");
  ASSERT_EQ(done.code, 0);
  EXPECT_TRUE(written(done));
  EXPECT_NE(done.text.find("\"state_before\":\"U\",\"state_after\":\"F\",\"reason\":\"found in the ledger\""),
            std::string::npos)
      << done.text;
  const auto again = key("resolve", "--key k --reason again --status 200");
  ASSERT_EQ(again.code, 3) << "it has an answer now";
  EXPECT_FALSE(written(again)) << again.text;
}

TEST_F(an_operator, is_recorded_as_one_who_may_have_changed_what_the_store_did_not_confirm) {
  relay wire(shared_redis().port());
  backend.on("*", close_connection());
  auto s = settings("lease: 1s");
  s.redis_port = wire.port();
  s.redis_more = "allow_eviction: true";  // what the server says of its memory is not always of one length
  start(s);
  EXPECT_EQ(post("k").status, 502);
  proxy->kill();
  ASSERT_EQ(key("show", "--key k").code, 0);
  const auto before = wire.bytes_down();
  ASSERT_EQ(key("show", "--key k").code, 0);
  wire.cut_after_reply_bytes(wire.bytes_down() - before);
  const auto done = key("resolve", "--key k --reason r --status 200");
  EXPECT_EQ(done.code, 1);
  EXPECT_NE(done.text.find("an operator may have changed a record"), std::string::npos) << done.text;
}

TEST_F(an_operator, is_told_that_a_key_becomes_free_where_the_store_went_after_it_was_revoked) {
  relay wire(shared_redis().port());
  backend.on("*", hang());
  auto s = settings("lease: 1s");
  s.redis_port = wire.port();
  s.redis_more = "allow_eviction: true";  // what the server says of its memory is not always of one length
  start(s);
  auto one = proxy->connect(), other = proxy->connect();
  one.send(charge("one"));
  other.send(charge("two"));
  ASSERT_TRUE(backend.wait_for("one"));
  ASSERT_TRUE(backend.wait_for("two"));
  proxy->kill();
  const auto lapsed = [&](const std::string& k) {
    return eventually([&] { return key("show", "--key " + k).text.find("lapsed") != std::string::npos; });
  };
  ASSERT_TRUE(lapsed("one"));
  ASSERT_TRUE(lapsed("two"));
  const auto before = wire.bytes_down();
  ASSERT_EQ(key("release", "--key one --reason 'as long as what comes before the second step'").code, 0);
  wire.cut_after_reply_bytes(wire.bytes_down() - before);
  const auto done = key("resolve", "--key two --reason r --status 200");
  EXPECT_EQ(done.code, 1);
  EXPECT_NE(done.text.find("was revoked before that"), std::string::npos) << done.text;
  EXPECT_NE(done.text.find("it is free in 2 s"), std::string::npos) << done.text;
  EXPECT_EQ(done.text.find("nothing was changed"), std::string::npos) << done.text;
}

TEST_F(an_operator, must_say_why) {
  start();
  EXPECT_NE(key("release", "--key k").code, 0);
}

}  // namespace
}  // namespace idem::test
