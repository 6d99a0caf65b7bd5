// Conversations at random: pieces, pauses, ends and ways of reading.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "edge_fixture.hpp"

namespace {

using namespace idem::net;
using namespace idem::net::testing;

enum class ending { finish, reset_inside, reset_between };
std::string name_of(ending e) {
  return e == ending::finish ? "finish" : e == ending::reset_inside ? "reset_inside" : "reset_between";
}

using random_source = std::mt19937;
unsigned below(random_source& r, unsigned bound) { return static_cast<unsigned>(r() % bound); }

/// Messages with a length of four bytes in front.
struct script {
  std::string bytes;
  std::size_t messages = 0;

  script(random_source& r, ending how) {
    messages = 1 + below(r, 40);
    for (std::size_t i = 0; i < messages; ++i) {
      const std::uint32_t size = below(r, 4) == 0 ? below(r, 60'000) : below(r, 300);
      add(size);
      for (std::uint32_t k = 0; k < size; ++k) bytes.push_back(static_cast<char>('a' + (i + k) % 26));
    }
    if (how != ending::reset_inside) return;
    add(2 + below(r, 300));
    bytes.append(below(r, 2), 'x');  // less than it says, but more than nothing
  }

 private:
  void add(std::uint32_t size) { bytes.append(reinterpret_cast<const char*>(&size), sizeof size); }
};

void writes(peer& to, std::string_view bytes, ending how, random_source r) {
  const unsigned largest = below(r, 2) ? 20'000 : 200;
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, 1 + below(r, largest));
    if (!to.send(piece)) return;
    bytes.remove_prefix(piece.size());
    if (below(r, 8) == 0) std::this_thread::sleep_for(std::chrono::microseconds(below(r, 300)));
  }
  if (how == ending::finish) {
    to.finish();
  } else if (to.delivered()) {
    to.reset();
  }
}

/// Reads as the contract allows: what a message begins with is expected only between two of them.
class reader {
 public:
  reader(edge& e, ending how, random_source r) : e_(e), how_(how), random_(r) {}

  void run() {
    for (error_code ec; !ec && !::testing::Test::HasFailure();) {
      if (below(random_, 3) == 0) e_.turn();
      const bool between = pending_.empty();
      if (between && how_ != ending::reset_between && below(random_, 4) == 0) watches();
      const bool may_wait = between && how_ != ending::reset_between;
      const auto what = may_wait && below(random_, 4) != 0 ? expect::message : expect::rest;
      const auto r = e_.take(1 + below(random_, below(random_, 2) ? 70'000 : 500), what);
      if (r->calls == 0) return;
      ec = end = r->ec;
      all += r->bytes();
      pending_ += r->bytes();
      consume();
    }
  }

  std::string all;
  std::size_t messages = 0;
  error_code end;

 private:
  void consume() {
    for (std::uint32_t size = 0; pending_.size() >= sizeof size; ++messages) {
      std::memcpy(&size, pending_.data(), sizeof size);
      if (pending_.size() < sizeof size + size) return;
      pending_.erase(0, sizeof size + size);
    }
  }
  void watches() {
    const auto w = e_.watch();
    if (below(random_, 2)) {
      e_.ends(w);
      EXPECT_TRUE(e_.s->disturbed());
    } else {
      if (below(random_, 2)) e_.turn();
      if (below(random_, 2) || e_.s->disturbed()) {
        e_.s->cancel();
      } else {
        e_.s->end_watch();
      }
      if (below(random_, 2)) e_.turn();
    }
  }

  edge& e_;
  ending how_;
  random_source random_;
  std::string pending_;
};

struct at_random : ::testing::TestWithParam<std::tuple<transport, ending>> {
  static unsigned first_seed() {
    const auto chosen = GTEST_FLAG_GET(random_seed);
    return chosen != 0 ? static_cast<unsigned>(chosen) : std::random_device()() % 90'000 + 1;
  }
};
using a_conversation = at_random;
INSTANTIATE_TEST_SUITE_P(over, a_conversation,
                         ::testing::Values(std::tuple(transport::tcp, ending::finish),
                                           std::tuple(transport::tcp, ending::reset_inside),
                                           std::tuple(transport::tcp, ending::reset_between),
                                           std::tuple(transport::unix_pair, ending::finish)),
                         [](const auto& i) {
                           return name_of(std::get<0>(i.param)) + "_" + name_of(std::get<1>(i.param));
                         });

TEST_P(a_conversation, arrives_whole_and_with_its_end_in_whatever_pieces_it_comes) {
  const auto [over, how] = GetParam();
  const auto first = first_seed();
  for (unsigned seed = first; seed < first + 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE("again with --gtest_random_seed=" + std::to_string(seed));
    random_source random(seed);
    const script sent(random, how);
    edge e(over);
    std::thread writer([&, r = random_source(random()), h = how] { writes(*e.other, sent.bytes, h, r); });
    reader got(e, how, random_source(random()));
    got.run();
    e.s.reset();  // a writer that waits for a reader that has given up ends
    writer.join();
    EXPECT_EQ(got.end, how == ending::finish ? error_code(asio::error::eof) : asio::error::connection_reset);
    EXPECT_EQ(got.messages, sent.messages);
    EXPECT_TRUE(got.all == sent.bytes);
  }
}

}  // namespace
