#include "idem/net/name_lookup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "idem/net/types.hpp"

namespace {

using namespace idem::net;
using namespace std::chrono_literals;

struct a_look_up : testing::Test {
  /// Until `over`, or for ten seconds.
  template <class Condition>
  bool runs_until(Condition over) {
    const auto limit = std::chrono::steady_clock::now() + 10s;
    auto work = asio::make_work_guard(*io);
    while (!over() && std::chrono::steady_clock::now() < limit) io->run_one_for(100ms);
    return over();
  }
  std::optional<asio::io_context> io{std::in_place, 1};
};

TEST_F(a_look_up, finds_addresses_with_the_port) {
  name_lookup lookup(*io);
  name_lookup::addresses found;
  bool answered = false;
  lookup.start("localhost", 8080, [&](const error_code& ec, const name_lookup::addresses& all) {
    EXPECT_FALSE(ec) << ec.message();
    found = all;
    answered = true;
  });
  EXPECT_FALSE(answered) << "not within the call";
  ASSERT_TRUE(runs_until([&] { return answered; }));
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(std::all_of(found.begin(), found.end(),
                          [](const auto& e) { return e.address().is_loopback() && e.port() == 8080; }));
}

TEST_F(a_look_up, of_one_name_by_several_is_answered_to_all_but_those_that_have_cancelled) {
  name_lookup first(*io), second(*io), third(*io);
  int heard = 0;
  bool last = false;
  first.start("localhost", 1, [&](const error_code&, const name_lookup::addresses&) { ++heard; });
  second.start("localhost", 1, [&](const error_code&, const name_lookup::addresses&) { heard += 100; });
  third.start("localhost", 1, [&](const error_code&, const name_lookup::addresses&) { last = true; });
  second.cancel();
  EXPECT_TRUE(runs_until([&] { return last && heard > 0; }));
  EXPECT_EQ(heard, 1);
}

TEST_F(a_look_up, that_fails_says_so) {
  name_lookup lookup(*io);
  std::optional<error_code> failed;
  lookup.start("two words", 1, [&](const error_code& ec, const name_lookup::addresses&) { failed = ec; });
  ASSERT_TRUE(runs_until([&] { return failed.has_value(); }));
  EXPECT_TRUE(*failed);
}

TEST_F(a_look_up, is_forgotten_with_whoever_has_begun_it) {
  for (int i = 0; i < 50; ++i) {
    std::optional<name_lookup> lookup(std::in_place, *io);
    lookup->start("localhost", 1, [](const error_code&, const name_lookup::addresses&) { FAIL(); });
    lookup.reset();
    if (i % 2 == 0) io->poll();
  }
  io.reset();  // what comes now has nowhere to go
}

}  // namespace
