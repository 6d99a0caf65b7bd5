#include "store/redis/completion_group.hpp"

#include "store/redis/scripts.hpp"
#include "unit/store/conversation.hpp"

namespace idem::store::redis {
namespace {

using namespace test;
using kind = group_reply::kind;

TEST(completion_group, sends_names_first_and_then_what_belongs_to_each) {
  command a, b;
  a.name = "a", a.expect = "o1", a.value = "v 1", a.ttl = milliseconds(900);
  b.name = "b", b.expect = "o2", b.value = "", b.ttl = milliseconds(0);
  const group_members both{&a, &b};
  std::string out;
  append_group(out, both, false);
  append_group(out, both, true);
  const std::string arguments = " 2 a b i1 P o1 v 1 900 i1 P o2  1";
  EXPECT_EQ(sent(out), (std::vector{"EVALSHA " + completions_script().sha1 + arguments,
                                    "EVAL " + completions_script().text + arguments}));
}

TEST(completion_group, reads_what_was_done_and_what_was_left) {
  const auto all = read_group_reply(number(code_done), 3);
  EXPECT_EQ(all.what, kind::decided);
  EXPECT_TRUE(all.alone.none());
  const auto some = read_group_reply(array({number(2)}), 3);
  EXPECT_EQ(some.what, kind::decided);
  EXPECT_EQ(some.alone.to_ulong(), 0b010u);
}

TEST(completion_group, trusts_no_reply_of_another_shape) {
  for (const auto& v :
       {status("OK"), nil(), number(1), number(-1), array({}), array({number(0)}), array({number(3)}), array({text("1")}),
        array({number(2), number(1)}), array({number(1), number(1)}), array({number(1), nil()})}) {
    const auto r = read_group_reply(v, 2);
    EXPECT_EQ(r.what, kind::failed);
    EXPECT_FALSE(surely_not_executed(r.fault));
  }
}

TEST(completion_group, tells_an_unknown_script_from_other_errors) {
  EXPECT_EQ(read_group_reply(error("NOSCRIPT x"), 2).what, kind::unknown_script);
  EXPECT_EQ(read_group_reply(error("LOADING x"), 2).what, kind::failed);
  EXPECT_TRUE(surely_not_executed(read_group_reply(error("LOADING x"), 2).fault));
  EXPECT_FALSE(surely_not_executed(read_group_reply(error("ERR Error running script"), 2).fault));
}

}  // namespace
}  // namespace idem::store::redis
