#include "store/redis/handshake.hpp"

#include "store/redis/eviction_check.hpp"
#include "support/temporary_folder.hpp"
#include "unit/store/conversation.hpp"

namespace idem::store::redis {
namespace {

using namespace test;
using state = handshake::state;

class handshake_with_a_server : public testing::Test {
 protected:
  std::vector<std::string> begin(std::string_view password = {}, bool probe = true) {
    h.emplace(settings, password, probe);
    said.clear();
    std::string out;
    h->begin(out);
    return sent(out);
  }
  state answer(const resp_value& v) { return h->on_reply(v, said); }

  config::redis_config settings;
  std::optional<handshake> h;
  std::string said;  ///< after the first pipeline
};

TEST_F(handshake_with_a_server, says_no_more_than_is_needed) {
  settings.allow_eviction = true;
  const auto lines = begin();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("EVAL "));
  EXPECT_EQ(answer(number(1)), state::ready);
  EXPECT_EQ(h->how(), dialect::scripts);
}

TEST_F(handshake_with_a_server, finds_out_by_trying_that_SET_can_do_the_work_of_GET) {
  settings.allow_eviction = true;
  begin();
  EXPECT_EQ(answer(number(2)), state::ready);
  EXPECT_EQ(h->how(), dialect::scripts_and_set_get);
}

TEST_F(handshake_with_a_server, gives_name_password_and_database_first) {
  settings.database = 3;
  EXPECT_EQ(begin("pw")[0], "AUTH pw");
  settings.username = "me";
  const auto lines = begin("pw");
  EXPECT_EQ(lines[0], "AUTH me pw");
  EXPECT_EQ(lines[1], "SELECT 3");
  EXPECT_EQ(answer(status("OK")), state::going_on);
  EXPECT_EQ(answer(status("OK")), state::going_on);
  EXPECT_EQ(answer(number(1)), state::going_on);
  EXPECT_EQ(answer(error("NOPERM")), state::going_on);
  EXPECT_EQ(answer(error("NOPERM")), state::ready);
}

TEST_F(handshake_with_a_server, asks_whether_it_may_evict_records_and_fails_if_so) {
  const auto answers = [&](const resp_value& config, const resp_value& info) {
    begin();
    EXPECT_EQ(answer(number(2)), state::going_on);
    EXPECT_EQ(answer(config), state::going_on);
    return answer(info);
  };
  const auto lines = begin();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "CONFIG GET maxmemory-policy");
  EXPECT_EQ(lines[2], "INFO memory");
  const auto policy = [](const char* name) { return array({text("maxmemory-policy"), text(name)}); };
  EXPECT_EQ(answers(policy("allkeys-lru"), error("NOPERM")), state::failed);
  EXPECT_EQ(h->reason(), "the server may evict records");
  EXPECT_EQ(answers(error("NOPERM"), text("maxmemory_policy:volatile-ttl\r\n")), state::failed);
  EXPECT_EQ(answers(policy("noeviction"), error("NOPERM")), state::ready);
  EXPECT_EQ(h->how(), dialect::scripts_and_set_get);
  EXPECT_EQ(answers(error("NOPERM"), error("NOPERM")), state::ready) << "neither tells";
}

TEST_F(handshake_with_a_server, fails_on_a_refusal_without_quoting_it) {
  begin("pw");
  EXPECT_EQ(answer(error("WRONGPASS invalid pw")), state::failed);
  EXPECT_EQ(h->reason(), "authentication refused");
  for (const auto* e : {"NOAUTH Authentication required", "LOADING x", "MASTERDOWN x", "READONLY x", "MOVED 1 h:1"}) {
    begin();
    EXPECT_EQ(answer(error(e)), state::failed) << e;
  }
}

TEST_F(handshake_with_a_server, finds_out_by_trying_that_scripts_are_refused) {
  settings.allow_eviction = true;
  for (const auto* e :
       {"ERR unknown command 'EVAL'", "NOPERM this user has no permissions to run the 'eval' command"}) {
    begin();
    EXPECT_EQ(answer(error(e)), state::going_on) << e;
    for (auto left = sent(said).size(); left > 1; --left) EXPECT_EQ(answer(status("OK")), state::going_on);
    EXPECT_EQ(answer(array({})), state::ready);
    EXPECT_EQ(h->how(), dialect::transactions);
  }
}

TEST_F(handshake_with_a_server, tries_transactions_where_scripts_are_refused_and_writes_nothing) {
  begin();
  EXPECT_EQ(answer(error("NOPERM x")), state::going_on);
  EXPECT_EQ(said, "") << "what was asked already comes first";
  EXPECT_EQ(answer(error("NOPERM x")), state::going_on);
  EXPECT_EQ(answer(error("NOPERM x")), state::going_on);
  EXPECT_EQ(sent(said),
            (std::vector<std::string>{"WATCH idem:{probe}", "GET idem:{probe}", "GETRANGE idem:{probe} 0 41",
                                      "PTTL idem:{probe}", "UNWATCH", "MULTI", "SET idem:{probe}  NX XX",
                                      "PEXPIRE idem:{probe} 1000", "DEL idem:{probe}", "EXEC"}));
}

TEST_F(handshake_with_a_server, fails_where_neither_scripts_nor_transactions_are_allowed) {
  settings.allow_eviction = true;
  const std::pair<const char*, const char*> refusals[] = {
      {"NOPERM x", "the server allows neither scripts nor transactions"},
      {"ERR unknown command 'WATCH'", "the server allows neither scripts nor transactions"},
      {"READONLY x", "the server is a read-only replica"},
      {"LOADING x", "the server is not serving"}};
  for (const auto& [refusal, reason] : refusals) {
    for (std::size_t which = 0; which < 10; ++which) {
      begin();
      answer(error("NOPERM x"));
      for (std::size_t i = 0; i < which; ++i) ASSERT_EQ(answer(status("OK")), state::going_on);
      EXPECT_EQ(answer(error(refusal)), state::failed) << refusal << ' ' << which;
      EXPECT_EQ(h->reason(), reason);
    }
  }
}

TEST_F(handshake_with_a_server, takes_a_full_server_for_one_that_knows_transactions) {
  settings.allow_eviction = true;
  begin();
  answer(error("NOPERM x"));
  for (int i = 0; i < 6; ++i) answer(status("OK"));
  EXPECT_EQ(answer(error("OOM command not allowed")), state::going_on);
  EXPECT_EQ(answer(status("QUEUED")), state::going_on);
  EXPECT_EQ(answer(status("QUEUED")), state::going_on);
  EXPECT_EQ(answer(error("EXECABORT x")), state::ready);
}

TEST_F(handshake_with_a_server, takes_a_full_server_for_one_that_runs_scripts) {
  settings.allow_eviction = true;
  begin();
  EXPECT_EQ(answer(error("OOM command not allowed")), state::ready);
  EXPECT_EQ(h->how(), dialect::scripts);
}

TEST_F(handshake_with_a_server, of_a_listener_needs_one_answer) {
  EXPECT_EQ(begin({}, false), std::vector<std::string>{"PING"});
  EXPECT_EQ(answer(error("NOAUTH x")), state::failed);
  begin({}, false);
  EXPECT_EQ(answer(status("PONG")), state::ready);
}

TEST(current_password, is_the_file_without_its_last_line_end) {
  idem::test::temporary_folder folder;
  config::redis_config c;
  c.password = "old";
  EXPECT_EQ(current_password(c), "old");
  c.password_file = folder.write("pw", "new \n");
  EXPECT_EQ(current_password(c), "new ");
  folder.write("pw", "newer\r\n");
  EXPECT_EQ(current_password(c), "newer");
  c.password_file += ".gone";
  EXPECT_EQ(current_password(c), "old");
}

TEST(eviction_policy, is_read_from_CONFIG_or_else_from_INFO) {
  EXPECT_EQ(eviction_policy(array({text("maxmemory-policy"), text("allkeys-lru")}), nil()), "allkeys-lru");
  EXPECT_EQ(eviction_policy(error("NOPERM"), text("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\nx:1\r\n")),
            "noeviction");
  EXPECT_EQ(eviction_policy(error("NOPERM"), error("NOPERM")), "");
  EXPECT_EQ(eviction_policy(array({}), text("maxmemory:0")), "");
}

}  // namespace
}  // namespace idem::store::redis
