// `key list`: an operator sees every record, finds the unknown outcomes, and keeps the answers.
#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "idem/text/base64.hpp"
#include "scenario/operator_commands.hpp"

namespace idem::test {
namespace {

namespace json = boost::json;

class a_list_of_keys : public an_operator {
 protected:
  /// The objects of `key list --json MORE`, by their hash.
  std::map<std::string, json::object> listed(const std::string& more = "") const {
    const auto o = command("list", "--json " + more);
    EXPECT_EQ(o.code, 0) << o.text;
    std::map<std::string, json::object> all;
    std::istringstream lines(o.text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('{')) continue;
      const auto object = json::parse(line).as_object();
      EXPECT_TRUE(all.emplace(object.at("key_hash").as_string(), object).second) << "twice: " << line;
    }
    return all;
  }
  /// The states of them, in alphabetical order.
  std::vector<std::string> states(const std::string& more = "") const {
    std::vector<std::string> found;
    for (const auto& [hash, object] : listed(more)) found.emplace_back(object.at("state").as_string());
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_F(a_list_of_keys, names_the_state_of_each_and_the_hash_that_shows_it) {
  gate answer;
  backend.on("*", in_turn({reply(201, "made"), reply(400, "no"), close_connection(), held(answer, reply(200))}));
  start("lease: 30s");
  EXPECT_EQ(post("done").status, 201);
  EXPECT_EQ(post("bad").status, 400);
  EXPECT_EQ(post("lost").status, 502);
  auto running = in_background([&] { return post("runs"); });
  ASSERT_TRUE(backend.wait_for("runs"));

  EXPECT_THAT(states(), ::testing::ElementsAre("failed_final", "processing", "succeeded", "unknown"));
  EXPECT_THAT(states("--state unknown --state processing"), ::testing::ElementsAre("processing", "unknown"));
  const auto unknown = listed("--state unknown");
  ASSERT_EQ(unknown.size(), 1u);
  const auto& [hash, object] = *unknown.begin();
  EXPECT_EQ(object.at("attempt"), 1);
  EXPECT_EQ(object.at("guarantee"), "at_most_once");
  EXPECT_FALSE(object.contains("lapsed"));
  EXPECT_FALSE(object.contains("status"));
  EXPECT_GT(object.at("expires_in_ms").as_int64(), 23 * 3600 * 1000);
  EXPECT_NE(key("show", "--key lost").text.find("{" + hash + "}"), std::string::npos);

  const auto table = command("list", "");
  EXPECT_EQ(table.code, 0);
  for (const char* part : {"KEY_HASH", "processing", "succeeded", " 201 ", " 400 ", "4 of 4 records"})
    EXPECT_NE(table.text.find(part), std::string::npos) << part << " in " << table.text;
  answer.open();
  running.get();
}

TEST_F(a_list_of_keys, has_the_call_of_a_dead_proxy_as_unknown_although_nobody_asked_for_it) {
  backend.on("*", hang());
  start("lease: 1s");
  auto client = proxy->connect();
  client.send(charge("lapses"));
  ASSERT_TRUE(backend.wait_for("lapses"));
  proxy->kill();
  std::map<std::string, json::object> found;
  ASSERT_TRUE(eventually([&] { return (found = listed("--state unknown")).size() == 1; }));
  EXPECT_EQ(found.begin()->second.at("lapsed"), true);
}

TEST_F(a_list_of_keys, has_the_answers_byte_for_byte_where_they_are_asked_for) {
  std::string body;
  for (int i = 0; i < 512; ++i) body += static_cast<char>(i * 7);
  backend.on("*", raw(answer_bytes(201, body, {"X-One: 1", "x-ONE: \xe9", "Set-Cookie: a=b"})));
  start();
  EXPECT_EQ(post("k").status, 201);
  EXPECT_FALSE(listed().begin()->second.contains("body_base64"));
  const auto object = listed("--answers").begin()->second;
  EXPECT_EQ(object.at("status"), 201);
  EXPECT_EQ(text::decode_base64(object.at("body_base64").as_string(), text::base64_alphabet::standard), body);
  std::set<std::string> lines;
  for (const auto& line : object.at("headers").as_array()) lines.emplace(line.as_string());
  EXPECT_TRUE(lines.contains("X-One: 1"));
  EXPECT_TRUE(lines.contains("x-ONE: \xef\xbf\xbd")) << "JSON has no such byte";
  EXPECT_EQ(command("list", "--answers").code, 2) << "a table has no room for them";
}

TEST_F(a_list_of_keys, is_whole_with_many_records_and_has_none_that_are_not_of_this_prefix) {
  auto s = settings("lease: 1s");
  s.redis_more = "key_prefix: \"p[a-z]*:\"";
  start(s);
  constexpr std::size_t count = 300;
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(post("k" + std::to_string(i)).status, 200);
  const std::string hash(43, 'x');
  for (const auto& other : {"pa:{" + hash + "}", "p[a-z]*:o:{" + hash + "}", "p[a-z]*:{" + hash + "x}", "p:" + hash})
    shared_redis().command({"SET", other, "v"});
  EXPECT_EQ(listed().size(), count);
  shared_redis().command({"SET", "p[a-z]*:{" + hash + "}", "of somebody else"});
  const auto foreign = listed("--state foreign");
  ASSERT_EQ(foreign.size(), 1u);
  EXPECT_EQ(foreign.begin()->first, hash);
}

TEST_F(a_list_of_keys, says_why_it_is_not_whole) {
  start();
  EXPECT_EQ(post("k").status, 200);
  const auto full = command("list", "> /dev/full");
  EXPECT_EQ(full.code, 1);

  shared_redis().command({"ACL", "SETUSER", "default", "-scan"});
  const auto denied = command("list", "");
  shared_redis().command({"ACL", "SETUSER", "default", "+@all"});
  EXPECT_EQ(denied.code, 1);
  EXPECT_NE(denied.text.find("the list is not whole: "), std::string::npos) << denied.text;
  EXPECT_NE(denied.text.find("the user may not SCAN"), std::string::npos) << denied.text;

  const auto odd = command("list", "--state lost");
  EXPECT_EQ(odd.code, 2);
  EXPECT_NE(odd.text.find("processing"), std::string::npos) << odd.text;
}

TEST_F(a_list_of_keys, of_a_store_that_is_away_is_a_fault) {
  start();
  shared_redis().command({"CONFIG", "SET", "requirepass", "other"});
  const auto away = command("list", "");
  redis_client admin(shared_redis().port());
  admin.command({"AUTH", "other"});
  admin.command({"CONFIG", "SET", "requirepass", ""});
  EXPECT_EQ(away.code, 1);
  EXPECT_NE(away.text.find("the list is not whole: the store at 127.0.0.1:"), std::string::npos) << away.text;
}

}  // namespace
}  // namespace idem::test
