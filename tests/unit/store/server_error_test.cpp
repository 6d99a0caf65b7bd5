#include "store/redis/server_error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace idem::store::redis {
namespace {

TEST(an_error_of_the_server, says_by_its_first_word_that_the_command_was_not_executed) {
  for (const auto* word : {"OOM",    "MISCONF",   "NOREPLICAS", "NOSCRIPT", "WRONGTYPE",  "EXECABORT",   "READONLY",
                           "NOAUTH", "WRONGPASS", "NOPERM",     "LOADING",  "MASTERDOWN", "CLUSTERDOWN", "MOVED",
                           "ASK",    "TRYAGAIN",  "CROSSSLOT",  "BUSY",     "DENIED",     "NOPROTO"}) {
    EXPECT_TRUE(surely_not_executed(classify(word))) << word;
    EXPECT_EQ(classify(std::string(word) + " and why"), classify(word)) << word;
  }
}

TEST(an_error_of_the_server, that_nobody_knows_leaves_open_whether_the_command_was_executed) {
  for (const auto* text : {"", " ", "ERR OOM", "ERR unknown command", "oom command not allowed", "OOMX", "OO",
                           "BUSYGROUP x", "BUSYKEY Target key name already exists.", "ASKING", "UNKILLABLE x"})
    EXPECT_FALSE(surely_not_executed(classify(text))) << text;
}

TEST(an_error_of_the_server, is_a_denial_also_where_it_comes_from_a_script_or_from_EXEC) {
  for (const auto* text : {"NOPERM User idem has no permissions to run the 'del' command",
                           "ERR The user executing the script can't run this command or subcommand",
                           "ERR The user executing the script can't access at least one of the keys mentioned",
                           "ERR ACL failure in script: User idem has no permissions to run the 'del' command",
                           "EXECABORT Transaction discarded because of: NOPERM this user has no permissions to run"}) {
    EXPECT_EQ(classify(text), server_error::denied) << text;
    EXPECT_TRUE(asks_for_a_new_connection(classify(text)));
  }
  EXPECT_EQ(classify("EXECABORT Transaction discarded because of previous errors."), server_error::aborted);
}

}  // namespace
}  // namespace idem::store::redis
