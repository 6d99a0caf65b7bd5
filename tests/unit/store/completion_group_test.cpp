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

TEST(completion_group, reads_what_was_done_and_what_a_member_replied) {
  auto v = number(code_done);
  const auto all = read_group_reply(v, 3);
  EXPECT_EQ(all.what, kind::decided);
  for (const auto* own : all.replies) EXPECT_EQ(own, nullptr);
  auto w = array({number(2), error("OOM x"), number(3), array({number(3), text("x"), number(7)})});
  const auto some = read_group_reply(w, 3);
  EXPECT_EQ(some.what, kind::decided);
  EXPECT_EQ(some.replies[0], nullptr);
  ASSERT_NE(some.replies[1], nullptr);
  EXPECT_EQ(some.replies[1]->text, "OOM x");
  ASSERT_NE(some.replies[2], nullptr);
  EXPECT_EQ(some.replies[2]->items.size(), 3u);
}

TEST(completion_group, trusts_no_reply_of_another_shape) {
  for (auto& v : {status("OK"), nil(), number(1), number(-1), array({}), array({number(1)}),
                  array({number(0), number(0)}), array({number(3), number(0)}), array({text("1"), number(0)}),
                  array({number(2), number(0), number(1), number(0)}), array({number(1), nil(), number(1), nil()})}) {
    auto copy = v;
    const auto r = read_group_reply(copy, 2);
    EXPECT_EQ(r.what, kind::failed);
    EXPECT_FALSE(surely_not_executed(r.fault));
  }
}

kind kind_of(const char* text) {
  auto v = error(text);
  return read_group_reply(v, 2).what;
}
bool surely_not_executed_after(const char* text) {
  auto v = error(text);
  return surely_not_executed(read_group_reply(v, 2).fault);
}

TEST(completion_group, tells_an_unknown_script_and_separate_places_from_other_errors) {
  EXPECT_EQ(kind_of("NOSCRIPT x"), kind::unknown_script);
  EXPECT_EQ(kind_of("CROSSSLOT Keys in request don't hash to the same slot"), kind::not_together);
  EXPECT_EQ(kind_of("LOADING x"), kind::failed);
  EXPECT_TRUE(surely_not_executed_after("LOADING x"));
  EXPECT_FALSE(surely_not_executed_after("ERR Error running script"));
}

}  // namespace
}  // namespace idem::store::redis
