#include "store/memory/table.hpp"

#include <gtest/gtest.h>

namespace idem::store::memory {
namespace {

using namespace std::chrono_literals;

const std::string owner = "0001 " + std::string(32, 'a');
const std::string value = "i1 P " + owner + " fields\n", prefix = value.substr(0, 42);

class memory_table : public testing::Test {
 protected:
  reply claim(const std::string& name, milliseconds ttl = 10s, const std::string& what = value) {
    command c;
    c.what = op::claim;
    c.name = name;
    c.value = what;
    c.ttl = ttl;
    return records.run(c, now);
  }
  reply own(op what, const std::string& name, const std::string& with, milliseconds ttl = 10s) {
    command c;
    c.what = what;
    c.name = name;
    c.value = with;
    c.expect = owner;
    c.ttl = ttl;
    return records.run(c, now);
  }
  reply look(const std::string& name) {
    command c;
    c.name = name;
    return records.run(c, now);
  }
  static std::size_t cost(const std::string& name, std::size_t bytes) {
    return name.size() + bytes + table::record_overhead;
  }

  table::time_point now{};
  table records{10000};
};

TEST_F(memory_table, a_record_stands_until_the_millisecond_of_its_end) {
  claim("a", 1000ms);
  now += 999ms;
  EXPECT_EQ(look("a").ttl, 1);
  now += 1ms;
  EXPECT_EQ(look("a").what, verdict::absent);
  EXPECT_EQ(claim("a").ttl, 10000);
}

TEST_F(memory_table, bytes_are_given_back_when_records_end) {
  claim("a");
  EXPECT_EQ(records.used_bytes(), cost("a", value.size()));
  own(op::complete, "a", "i1 S " + owner + std::string(500, 'x'));
  EXPECT_EQ(records.used_bytes(), cost("a", 42 + 500));
  claim("b");
  own(op::release, "b", "");
  EXPECT_EQ(records.used_bytes(), cost("a", 42 + 500));
  now += 1h;
  look("a");
  EXPECT_EQ(records.used_bytes(), 0u);
}

TEST_F(memory_table, dead_records_go_without_being_asked_for) {
  for (int i = 0; i < 20; ++i) claim("short" + std::to_string(i), 1s);
  now += 2s;
  for (int i = 0; i < 200; ++i) look("other" + std::to_string(i));
  EXPECT_EQ(records.size(), 0u);
  EXPECT_EQ(records.used_bytes(), 0u);
}

TEST_F(memory_table, a_full_table_refuses_a_claim_and_never_drops_what_lives) {
  int kept = 0;
  while (claim("n" + std::to_string(kept)).what == verdict::found) ++kept;
  EXPECT_GT(kept, 10);
  const auto r = claim("one more");
  EXPECT_EQ(r.what, verdict::refused);
  EXPECT_FALSE(records.writable());
  EXPECT_LE(records.used_bytes(), 10000u);
  for (int i = 0; i < kept; ++i) EXPECT_EQ(look("n" + std::to_string(i)).value, value);
  EXPECT_EQ(claim("n0").value, value) << "what stands is still found";
}

TEST_F(memory_table, a_full_table_makes_room_of_what_is_dead_first_wherever_it_is) {
  const std::string large(9000, 'x');
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(claim("n" + std::to_string(i), 1s, large).what, verdict::found) << i;
    now += 2s;
  }
  EXPECT_TRUE(records.writable());
}

TEST_F(memory_table, an_answer_that_does_not_fit_is_refused_and_the_record_stays) {
  claim("a");
  EXPECT_EQ(own(op::complete, "a", "i1 S " + owner + std::string(20000, 'x')).what, verdict::refused);
  EXPECT_EQ(look("a").value, value);
  EXPECT_FALSE(records.writable());
  EXPECT_EQ(own(op::complete, "a", "i1 X " + owner).what, verdict::done);
  EXPECT_TRUE(records.writable());
}

TEST_F(memory_table, renewals_do_not_add_up) {
  claim("a");
  const auto used = records.used_bytes();
  for (int i = 0; i < 1000; ++i) {
    now += 1s;
    ASSERT_EQ(own(op::renew, "a", value).what, verdict::done);
  }
  EXPECT_EQ(records.used_bytes(), used);
  EXPECT_EQ(look("a").ttl, 10000);
}

}  // namespace
}  // namespace idem::store::memory
