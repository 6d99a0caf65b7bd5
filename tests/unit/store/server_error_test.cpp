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

}  // namespace
}  // namespace idem::store::redis
