// The session on Redis when the network or the server fails: every command ends in time, says whether it may still
// take effect, and the next ones find the store again.
#include <fstream>

#include "store/redis_faults.hpp"
#include "support/eventually.hpp"
#include "support/relay.hpp"

namespace idem::test {
namespace {

TEST_F(redis_faults, a_swallowed_reply_ends_as_unavailable_and_sent_and_the_next_command_works) {
  redis_server server;
  relay between(server.port());
  use(between.port());
  ASSERT_TRUE(runner_->connect());
  const auto name = fresh_name();
  between.swallow_replies(true);
  const auto before = net::lease_clock::now();
  expect_unavailable(claim(name, value, 60s), true);
  EXPECT_TRUE(status().ever_troubled);
  EXPECT_GE(status().last_trouble, before);
  EXPECT_EQ(server.command({"GET", name}).text, value) << "the claim took effect all the same";
  between.swallow_replies(false);
  expect_recovery();
}

TEST_F(redis_faults, everything_in_flight_ends_when_one_reply_is_missing) {
  redis_server server;
  relay between(server.port());
  use(between.port());
  ASSERT_TRUE(runner_->connect());
  between.swallow_replies(true);
  std::vector<reply> replies;
  const auto name = fresh_name();
  for (int i = 0; i < 20; ++i) runner_->session().submit(look(name), [&](reply r) { replies.push_back(std::move(r)); });
  ASSERT_TRUE(runner_->run_until([&] { return replies.size() == 20; }, command_timeout + slack));
  for (const auto& r : replies) {
    EXPECT_EQ(r.what, verdict::unavailable);
    EXPECT_TRUE(r.sent);
  }
}

TEST_F(redis_faults, a_cut_connection_ends_its_commands_at_once_and_is_made_again) {
  redis_server server;
  relay between(server.port());
  use(between.port(), [](auto& c) { c.command_timeout = 20s; });
  ASSERT_TRUE(runner_->connect());
  expect_recovery();
  between.swallow_replies(true);
  std::optional<reply> answer;
  const auto name = fresh_name();
  runner_->session().submit(claim(name, value, 60s), [&](reply r) { answer = std::move(r); });
  ASSERT_TRUE(eventually([&] {
    runner_->run_until([] { return false; }, 5ms);
    return server.command({"EXISTS", name}).integer == 1;
  }));
  between.swallow_replies(false);
  between.cut();
  ASSERT_TRUE(runner_->run_until([&] { return answer.has_value(); }, 5s));
  EXPECT_EQ(answer->what, verdict::unavailable);
  EXPECT_TRUE(answer->sent);
  expect_recovery();
  EXPECT_EQ(run(look(name)).value, value);
}

TEST_F(redis_faults, a_reply_that_is_cut_anywhere_is_never_taken_for_a_whole_one) {
  redis_server server;
  relay between(server.port());
  use(between.port(), [](auto& c) { c.command_timeout = 5s; });
  const auto name = fresh_name(), answer = record_text('S', mine, " an answer of some length\n");
  server.command({"SET", name, answer, "PX", "600000"});
  ASSERT_TRUE(runner_->connect());
  const auto whole = ("$" + std::to_string(answer.size()) + "\r\n" + answer + "\r\n").size();
  for (std::size_t bytes = 0; bytes <= whole; ++bytes) {
    // a connection that was of use is made again at once
    expect_recovery();
    between.cut_after_reply_bytes(bytes);
    const auto r = run(claim(name, value, 60s));
    if (bytes < whole) {
      EXPECT_EQ(r.what, verdict::unavailable) << bytes;
      EXPECT_TRUE(r.sent);
    } else {
      EXPECT_EQ(r.value, answer);
    }
    between.cut_after_reply_bytes(1 << 30);
  }
}

TEST_F(redis_faults, a_stopped_server_costs_one_command_timeout_and_is_used_again_when_it_goes_on) {
  redis_server server;
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  server.pause();
  expect_unavailable(claim(fresh_name(), value, 60s), true);
  // the kernel still accepts connections for the stopped server: nothing is sent before it says something
  expect_unavailable(claim(fresh_name(), value, 60s), false);
  server.resume();
  expect_recovery();
}

TEST_F(redis_faults, a_server_that_stands_still_is_noticed_while_nobody_asks_for_anything) {
  for (const auto kind : {store_kind::redis, store_kind::redis_without_scripts}) {
    redis_server server(kind == store_kind::redis ? std::vector<std::string>{}
                                                  : std::vector<std::string>{"--rename-command", "EVAL", ""});
    use(server.port());
    ASSERT_TRUE(runner_->connect());
    server.pause();
    const auto paused = net::lease_clock::now();
    EXPECT_TRUE(runner_->run_until([&] { return !status().reachable; }));
    EXPECT_GE(status().last_trouble, paused);
    server.resume();
    EXPECT_TRUE(runner_->connect()) << "nor is a request needed to find it again";
  }
}

TEST_F(redis_faults, a_connection_that_is_not_used_is_not_idle_for_long) {
  redis_server server({"--timeout", "8"});
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  runner_->run_until([] { return false; }, 12s);
  EXPECT_FALSE(status().ever_troubled) << "the server has closed it";
  EXPECT_EQ(server.command({"DBSIZE"}).integer, 0);
}

TEST_F(redis_faults, a_black_hole_never_hangs_a_command) {
  redis_server server;
  relay between(server.port());
  use(between.port());
  ASSERT_TRUE(runner_->connect());
  between.blackhole(true);
  const auto name = fresh_name();
  for (int i = 0; i < 4; ++i) expect_unavailable(claim(name, value, 60s), i == 0);
  between.blackhole(false);
  expect_recovery();
}

TEST_F(redis_faults, a_slow_server_within_the_timeout_is_no_trouble) {
  redis_server server;
  relay between(server.port());
  use(between.port(), [](auto& c) {
    c.command_timeout = 5s;
    c.connect_timeout = 5s;
  });
  ASSERT_TRUE(runner_->connect());
  between.delay(50ms);
  EXPECT_EQ(run(claim(fresh_name(), value, 60s)).what, verdict::found);
  EXPECT_FALSE(status().ever_troubled);
}

TEST_F(redis_faults, scripts_that_the_server_forgot_are_sent_again) {
  redis_server server;
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  const auto name = fresh_name();
  auto c = claim(name, value, 60s);
  for (int i = 0; i < 3; ++i) {
    server.command({"SCRIPT", "FLUSH"});
    c.what = op::renew;
    c.expect = mine;
    EXPECT_EQ(run(c).what, i == 0 ? verdict::recreated : verdict::done);
  }
  EXPECT_EQ(run(c).what, verdict::done);
  EXPECT_FALSE(status().ever_troubled);
}

TEST_F(redis_faults, a_server_that_restarts_is_found_again_and_its_durable_records_with_it) {
  redis_server server({"--appendonly", "yes", "--appendfsync", "always"});
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  const auto name = fresh_name();
  ASSERT_EQ(run(claim(name, value, 600s)).what, verdict::found);
  server.kill();
  ASSERT_TRUE(runner_->run_until([&] { return !status().reachable; }));
  server.start();
  ASSERT_TRUE(runner_->connect());
  const auto r = run(claim(name, record_text('P', owner_text(1, 'b')), 60s));
  EXPECT_EQ(r.value, value);
  EXPECT_TRUE(status().ever_troubled);
}

TEST_F(redis_faults, grace_counts_from_when_the_store_is_back) {
  redis_server server;
  relay between(server.port());
  use(between.port());
  ASSERT_TRUE(runner_->connect());
  expect_recovery();
  between.refuse(true);
  between.cut();
  ASSERT_TRUE(runner_->run_until([&] { return !status().reachable; }));
  const auto lost = status().last_trouble;
  runner_->run_until([&] { return net::lease_clock::now() - lost > 300ms; });
  const auto back = net::lease_clock::now();
  between.refuse(false);
  ASSERT_TRUE(runner_->connect());
  EXPECT_GE(status().last_trouble, back);
}

TEST_F(redis_faults, nothing_is_sent_to_a_server_that_is_not_there) {
  use(free_port());
  const auto name = fresh_name();
  for (int i = 0; i < 3; ++i) expect_unavailable(claim(name, value, 60s), false);
  EXPECT_FALSE(status().reachable);
  EXPECT_EQ(backend_->verify(), "");
}

TEST_F(redis_faults, a_server_that_appears_later_is_found) {
  redis_server server;
  server.stop();
  use(server.port());
  expect_unavailable(claim(fresh_name(), value, 60s), false);
  server.start();
  expect_recovery();
}

TEST_F(redis_faults, an_absent_server_is_not_asked_without_pause) {
  redis_server server;
  relay between(server.port());
  between.refuse(true);
  use(between.port());
  const auto name = fresh_name();
  unsigned ended = 0;
  const auto from = steady_clock::now();
  // a client that tries again and again
  while (steady_clock::now() - from < 1s) {
    runner_->session().submit(look(name), [&](reply) { ++ended; });
    runner_->run_until([] { return false; }, 2ms);
  }
  EXPECT_GT(ended, 20u);
  // at most one try in 200 ms for the commands, and the few that the backoff makes by itself
  EXPECT_LE(between.accepted(), 14u);
}

// A server that answers each connection with the same bytes, whatever it is asked.
class parrot {
 public:
  explicit parrot(std::string says) : says_(std::move(says)) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~parrot() {
    io_.stop();
    thread_.join();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  unsigned accepted() const { return accepted_; }

 private:
  using tcp = boost::asio::ip::tcp;
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code ec, tcp::socket s) {
      if (ec) return;
      ++accepted_;
      auto kept = std::make_shared<tcp::socket>(std::move(s));
      auto room = std::make_shared<std::array<char, 4096>>();
      kept->async_read_some(boost::asio::buffer(*room), [this, kept, room](boost::system::error_code, std::size_t) {
        boost::system::error_code ignored;
        boost::asio::write(*kept, boost::asio::buffer(says_), ignored);
        held_.push_back(kept);
      });
      accept();
    });
  }
  std::string says_;
  boost::asio::io_context io_{1};
  tcp::acceptor acceptor_{io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
  std::vector<std::shared_ptr<tcp::socket>> held_;
  std::atomic<unsigned> accepted_{0};
  std::thread thread_;
};

TEST_F(redis_faults, a_server_that_does_not_speak_redis_is_unavailable) {
  for (const std::string garbage : {"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "$5\r\nhelloXX", "hello\n",
                                    "*-5\r\n", "$99999999999999999999\r\n", ":1\r\n:2\r\n:3\r\n"}) {
    SCOPED_TRACE(garbage);
    parrot server(garbage);
    use(server.port());
    const auto name = fresh_name();
    // the last one answers the handshake, and then what was never asked
    runner_->run_until([&] { return server.accepted() >= 2; }, 5s);
    const auto r = run(claim(name, value, 60s));
    EXPECT_EQ(r.what, verdict::unavailable);
    EXPECT_LE(server.accepted(), 20u);
    runner_.reset();
  }
}

TEST_F(redis_faults, the_trouble_of_one_session_is_that_of_all) {
  redis_server server;
  relay between(server.port());
  use(between.port());
  session_runner other(*backend_);
  ASSERT_TRUE(runner_->connect() && other.connect());
  EXPECT_FALSE(other.session().status().ever_troubled);
  between.swallow_replies(true);
  EXPECT_EQ(run(claim(fresh_name(), value, 60s)).what, verdict::unavailable);
  EXPECT_TRUE(other.session().status().ever_troubled) << "owners could not renew, whoever noticed";
  EXPECT_EQ(other.session().status().last_trouble, status().last_trouble);
}

TEST_F(redis_faults, a_full_server_refuses_new_names_and_still_shows_what_stands) {
  redis_server server;
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  const auto known = fresh_name(), unknown = fresh_name(), answer = record_text('S', mine);
  ASSERT_EQ(run(claim(known, value, 60s)).what, verdict::found);
  server.command({"CONFIG", "SET", "maxmemory", "1"});

  EXPECT_EQ(run(claim(unknown, value, 60s)).what, verdict::refused);
  EXPECT_FALSE(status().writable);
  EXPECT_TRUE(status().reachable);
  const auto found = run(claim(known, value, 60s));
  EXPECT_EQ(found.what, verdict::found);
  EXPECT_EQ(found.value, value);
  EXPECT_TRUE(found.write_refused);
  EXPECT_EQ(run(look(known)).value, value);

  auto c = claim(known, answer, 60s);
  c.what = op::complete;
  c.expect = mine;
  EXPECT_EQ(run(c).what, verdict::refused);
  // what takes no memory goes on: a lease is renewed, a key is released
  c.what = op::renew;
  c.value = value;
  EXPECT_EQ(run(c).what, verdict::done);
  c.what = op::release;
  EXPECT_EQ(run(c).what, verdict::done);
  EXPECT_FALSE(status().writable);

  server.command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(run(claim(unknown, value, 60s)).what, verdict::found);
  EXPECT_TRUE(status().writable);
  EXPECT_FALSE(status().ever_troubled);
}

TEST_F(redis_faults, a_server_without_enough_replicas_refuses_writes_and_reads_on) {
  redis_server server;
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  const auto known = fresh_name();
  ASSERT_EQ(run(claim(known, value, 60s)).what, verdict::found);
  server.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
  EXPECT_EQ(run(claim(fresh_name(), value, 60s)).what, verdict::refused);
  const auto read = net::lease_clock::now();
  EXPECT_TRUE(run(claim(known, value, 60s)).write_refused);
  EXPECT_GE(status().last_trouble, read) << "what is read now may have lapsed for want of a renewal";
  EXPECT_EQ(run(look(known)).value, value);
  auto c = claim(known, value, 60s);
  c.what = op::renew;
  c.expect = mine;
  EXPECT_EQ(run(c).what, verdict::refused);

  // leases could not be renewed meanwhile: whoever finds a lapsed one now must know
  server.command({"CONFIG", "SET", "min-replicas-to-write", "0"});
  const auto taken = net::lease_clock::now();
  EXPECT_FALSE(run(claim(known, value, 60s)).write_refused);
  EXPECT_TRUE(status().writable);
  EXPECT_GE(status().last_trouble, taken);
}

TEST_F(redis_faults, a_replica_is_never_read) {
  redis_server master({"--repl-diskless-sync-delay", "0"}), server;
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  const auto known = fresh_name();
  ASSERT_EQ(run(claim(known, value, 60s)).what, verdict::found);
  master.command({"SET", known, value});
  server.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  ASSERT_TRUE(eventually(
      [&] { return server.command({"INFO", "replication"}).text.find("master_link_status:up") != std::string::npos; }));
  EXPECT_EQ(run(look(known)).what, verdict::unavailable);
  EXPECT_EQ(run(claim(known, value, 60s)).what, verdict::unavailable);
  EXPECT_FALSE(status().reachable);
  server.command({"REPLICAOF", "NO", "ONE"});
  expect_recovery();
}

TEST_F(redis_faults, a_replica_is_not_believed_where_there_is_nothing_to_write) {
  redis_server server;
  use(server.port());
  const auto known = fresh_name();
  server.command({"SET", known, record_text('S', mine)});
  for (const auto what : {op::renew, op::complete, op::release, op::declare, op::take_over, op::revoke, op::resolve}) {
    for (const auto& who : {mine, owner_text(1, 'b')}) {
      server.command({"REPLICAOF", "NO", "ONE"});
      ASSERT_TRUE(runner_->connect());
      auto c = claim(known, value, 60s);
      c.what = what;
      c.expect = who;
      EXPECT_NE(run(c).what, verdict::unavailable);
      server.command({"REPLICAOF", "127.0.0.1", "1"});
      EXPECT_EQ(run(c).what, verdict::unavailable) << static_cast<int>(what);
    }
  }
}

TEST_F(redis_faults, the_subscription_comes_back_and_says_so) {
  redis_server server;
  relay between(server.port());
  use(between.port());
  ASSERT_TRUE(runner_->connect());
  std::vector<std::string> heard;
  backend_->subscribe(runner_->io(), [&](std::string_view name) { heard.emplace_back(name); });
  ASSERT_TRUE(runner_->run_until([&] { return heard.size() == 1; }));
  between.cut();
  ASSERT_TRUE(runner_->run_until([&] { return heard.size() == 2; }));
  EXPECT_EQ(heard, (std::vector<std::string>{"", ""}));
  ASSERT_TRUE(runner_->connect());
  const auto name = fresh_name();
  auto c = claim(name, value, 60s);
  c.what = op::complete;
  c.expect = mine;
  c.notify = true;
  ASSERT_EQ(run(c).what, verdict::recreated);
  ASSERT_TRUE(runner_->run_until([&] { return heard.size() == 3; }));
  EXPECT_EQ(heard[2], name);
}

TEST_F(redis_faults, being_refused_the_channels_does_not_undo_a_completion) {
  redis_server server;
  server.command({"ACL", "SETUSER", "idem", "on", ">pw", "~t:*", "resetchannels", "+@all"});
  use(server.port(), [](auto& c) {
    c.username = "idem";
    c.password = "pw";
  });
  ASSERT_TRUE(runner_->connect());
  const auto name = fresh_name();
  auto c = claim(name, value, 60s);
  c.what = op::complete;
  c.expect = mine;
  c.notify = true;
  EXPECT_EQ(run(c).what, verdict::recreated);
  EXPECT_EQ(server.command({"GET", name}).text, value);
}

TEST_F(redis_faults, a_subscription_that_is_refused_is_tried_again_until_it_is_allowed) {
  redis_server server;
  server.command({"ACL", "SETUSER", "idem", "on", ">pw", "~t:*", "resetchannels", "+@all"});
  use(server.port(), [](auto& c) {
    c.username = "idem";
    c.password = "pw";
  });
  std::size_t confirmed = 0;
  backend_->subscribe(runner_->io(), [&](std::string_view) { ++confirmed; });
  const auto refusals = [&] { return server.command({"ACL", "LOG"}).items.size(); };
  ASSERT_TRUE(runner_->run_until([&] { return refusals() > 0; }));
  EXPECT_EQ(confirmed, 0u);
  server.command({"ACL", "SETUSER", "idem", "allchannels"});
  EXPECT_TRUE(runner_->run_until([&] { return confirmed == 1; }));
}

TEST_F(redis_faults, a_claim_and_a_completion_cost_what_the_protocol_says) {
  redis_server server;
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  const auto warm = fresh_name(), name = fresh_name(), answer = record_text('S', mine);
  auto c = claim(warm, answer, 60s);
  c.what = op::complete;
  c.expect = mine;
  run(c);
  server.command({"CONFIG", "RESETSTAT"});
  ASSERT_EQ(run(claim(name, value, 60s)).what, verdict::found);
  EXPECT_EQ(server.calls("set"), 1);
  EXPECT_EQ(server.calls("get") + server.calls("pttl"), 0);
  EXPECT_EQ(server.calls("evalsha") + server.calls("eval"), 0);
  server.command({"CONFIG", "RESETSTAT"});
  c.name = name;
  ASSERT_EQ(run(c).what, verdict::done);
  EXPECT_EQ(server.calls("evalsha"), 1);
  EXPECT_EQ(server.calls("eval"), 0);
  EXPECT_EQ(server.calls("getrange"), 1);
  EXPECT_EQ(server.calls("get"), 0) << "a completion does not read the body that it replaces";
  EXPECT_EQ(server.calls("set"), 1);
}

TEST_F(redis_faults, a_record_without_an_expiry_is_never_old_enough) {
  redis_server server;
  use(server.port());
  ASSERT_TRUE(runner_->connect());
  const auto name = fresh_name(), unknown = record_text('U', owner_text(1, 'b')),
             taken = record_text('P', owner_text(2, 'a'));
  const std::string prefix = unknown.substr(0, 42);
  server.command({"SET", name, unknown});
  EXPECT_EQ(run(look(name)).ttl, reply::no_expiry);
  EXPECT_EQ(run(claim(name, value, 60s)).value, unknown);
  auto c = claim(name, taken, 60s);
  c.what = op::take_over;
  c.expect = prefix;
  c.hold = 1h;
  EXPECT_EQ(run(c).what, verdict::lost);
  c.what = op::resolve;
  c.value = {};
  EXPECT_EQ(run(c).what, verdict::lost);
}

TEST_F(redis_faults, what_is_no_string_is_found_and_left_alone) {
  for (const bool scripts : {true, false}) {
    auto& server = server_of(scripts ? store_kind::redis : store_kind::redis_without_scripts);
    use(server.port());
    ASSERT_TRUE(runner_->connect());
    const auto name = fresh_name() + "hash";
    server.command({"HSET", name, "field", "x"});
    const auto found = run(claim(name, value, 60s));
    EXPECT_EQ(found.what, verdict::found);
    EXPECT_EQ(found.value, "");
    EXPECT_EQ(run(look(name)).what, verdict::found);
    for (const auto what :
         {op::renew, op::complete, op::release, op::declare, op::take_over, op::revoke, op::resolve}) {
      auto c = claim(name, value, 60s);
      c.what = what;
      c.expect = mine;
      const auto r = run(c);
      EXPECT_EQ(r.what, verdict::lost);
      EXPECT_EQ(r.value, "");
      EXPECT_EQ(r.ttl, reply::no_expiry);
    }
    EXPECT_EQ(server.command({"HGET", name, "field"}).text, "x");
  }
}

}  // namespace
}  // namespace idem::test
