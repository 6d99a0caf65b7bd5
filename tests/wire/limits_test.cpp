// What is bounded: sizes, times, connections, memory.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "wire/wire.hpp"

namespace idem::test {
namespace {

std::string request_of(const std::string& target, const std::string& fields = {}) {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

class short_limits : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = std::make_unique<stage>(
        "header_limit: 1KiB, header_fields: 5, uri_limit: 64B, "
        "timeouts: {header: 300ms, body_idle: 300ms, keep_alive: 300ms}",
        "response_timeout: 400ms, idle_timeout: 300ms");
  }
  static void TearDownTestSuite() { shared_.reset(); }
  void SetUp() override { s().backend.clear(); }
  static stage& s() { return *shared_; }

  /// Reads to the end of the connection; it has to come neither at once nor late.
  static std::string ends_in_time(peer& p) {
    const auto began = std::chrono::steady_clock::now();
    auto all = p.rest();
    EXPECT_GT(std::chrono::steady_clock::now() - began, 150ms);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 4s);
    EXPECT_EQ(p.ended(), peer::end::clean);
    return all;
  }

 private:
  static std::unique_ptr<stage> shared_;
};
std::unique_ptr<stage> short_limits::shared_;

TEST_F(short_limits, of_heads_are_414_and_431_as_early_as_they_show) {
  struct {
    const char* what;
    std::string bytes;  ///< never a whole head, so that only an early verdict can answer
    int status;
  } const table[] = {
      {"a target", "GET /" + std::string(64, 'x'), 414},
      {"a head", "GET /x HTTP/1.1\r\nHost: a\r\nX: " + std::string(1024, 'x'), 431},
      {"fields", "GET /x HTTP/1.1\r\nHost: a\r\n1: 1\r\n2: 1\r\n3: 1\r\n4: 1\r\n5: 1\r\n6: 1\r\n", 431},
  };
  for (const auto& t : table) {
    SCOPED_TRACE(t.what);
    auto c = s().client();
    c.send(t.bytes);
    EXPECT_TRUE(is_problem(c.read_head(), t.status, "head-too-large"));
    c.half_close();
    c.rest();
    EXPECT_EQ(c.ended(), peer::end::clean);
  }
  auto c = s().client();
  c.send(request_of("/" + std::string(63, 'x')));
  EXPECT_TRUE(s().backend.accept().open()) << "the limit itself is allowed";
}

TEST_F(short_limits, of_time_end_silence_silently_and_a_part_of_a_request_with_408) {
  auto silent = s().client();
  EXPECT_EQ(ends_in_time(silent), "");

  auto begun = s().client();
  begun.send("GET /x HTTP/1.1\r\nHo");
  auto all = ends_in_time(begun);
  EXPECT_TRUE(is_last_problem(all, begun, 408, "request-timeout"));

  auto idle = s().client();
  idle.send(plain_get);
  auto b = s().backend.accept();
  b.read(plain_get.size());
  b.send(plain_ok);
  EXPECT_EQ(idle.read(plain_ok.size()), plain_ok);
  EXPECT_EQ(ends_in_time(idle), "") << "an idle connection is closed without a word";
}

TEST_F(short_limits, of_time_end_a_head_that_trickles) {
  auto c = s().client();
  c.send("GET /x HTTP/1.1\r\n");
  std::atomic<bool> stop{false};
  std::thread trickle([&] {
    while (!stop && c.send("X")) std::this_thread::sleep_for(40ms);
  });
  const auto all = c.read_head(2s);
  stop = true;
  trickle.join();
  EXPECT_TRUE(is_problem(all, 408, "request-timeout"));
}

TEST_F(short_limits, of_time_end_bodies_that_stop_with_408_on_either_kind_of_route) {
  auto plain = s().client();
  plain.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe");
  auto b = s().backend.accept();
  auto all = plain.rest();
  EXPECT_TRUE(is_last_problem(all, plain, 408, "request-timeout"));
  b.rest();
  EXPECT_NE(b.ended(), peer::end::none);
  b.close();

  auto keyed = s().client();
  keyed.send(
      "POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: l1\r\n"
      "Transfer-Encoding: chunked\r\n\r\n5\r\nhe");
  all = keyed.rest();
  EXPECT_TRUE(is_last_problem(all, keyed, 408, "request-timeout"));
  EXPECT_FALSE(s().backend.accept(50ms).open());
}

TEST_F(short_limits, of_time_end_the_wait_for_an_answer_with_504_and_a_stalled_one_with_an_abort) {
  auto c = s().client();
  c.send(plain_get);
  auto b = s().backend.accept();
  EXPECT_TRUE(is_problem(c.read_head(), 504, "upstream-timeout"));
  b.rest();
  EXPECT_NE(b.ended(), peer::end::none);

  auto stalled = s().client();
  stalled.send(plain_get);
  auto b2 = s().backend.accept();
  b2.read(plain_get.size());
  b2.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
  stalled.rest();
  EXPECT_EQ(stalled.ended(), peer::end::reset);
}

TEST_F(short_limits, of_time_are_not_put_off_by_interim_answers) {
  auto c = s().client();
  c.send(plain_get);
  auto b = s().backend.accept();
  b.read(plain_get.size());
  std::string all;
  const auto began = std::chrono::steady_clock::now();
  while (b.send("HTTP/1.1 102 Processing\r\n\r\n") && all.find("504") == std::string::npos &&
         std::chrono::steady_clock::now() - began < 3s) {
    all += c.within(100ms);
  }
  all += c.rest(100ms);
  const auto last = all.rfind("HTTP/1.1 ");
  ASSERT_NE(last, std::string::npos);
  EXPECT_TRUE(is_problem(all.substr(last), 504, "upstream-timeout"));
}

TEST(a_slow_upload, has_the_clients_limit_and_not_that_of_the_answer) {
  stage s("timeouts: {body_idle: 900ms}", "response_timeout: 200ms");
  auto slow = s.client();
  slow.send("PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  auto b = s.backend.accept();
  EXPECT_TRUE(b.read_until("ab").ends_with("ab"));
  std::this_thread::sleep_for(500ms);  // well past the answer's limit
  slow.send("cd");
  b.read_until("cd");
  b.send("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_TRUE(slow.read_head().starts_with("HTTP/1.1 204"));

  auto stalled = s.client();
  stalled.send("PUT /stalls HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  EXPECT_TRUE(is_problem(stalled.read_head(), 408, "request-timeout"));
}

TEST(a_client_that_waits_for_100, is_not_slow_and_the_backends_limit_runs) {
  stage s("timeouts: {body_idle: 300ms}", "response_timeout: 1s");
  const std::string head = "PUT /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  const auto ask = [&](peer& c) {
    c.send(head);
    auto b = s.backend.accept();
    EXPECT_EQ(b.read(head.size()), head);
    return b;
  };
  auto patient = s.client();
  auto b = ask(patient);
  EXPECT_EQ(patient.within(600ms), "") << "twice the limit of bodies";
  b.send("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(patient.read_head(), "HTTP/1.1 100 Continue\r\n\r\n");
  patient.send("hello");
  EXPECT_EQ(b.read(5), "hello");
  b.send(plain_ok);
  EXPECT_EQ(patient.read(plain_ok.size()), plain_ok);
  b.close();

  auto forgotten = s.client();
  b = ask(forgotten);
  EXPECT_TRUE(is_problem(forgotten.read_head(), 504, "upstream-timeout"));

  auto stalled = s.client();
  b = ask(stalled);
  b.send("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(stalled.read_head(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(is_problem(stalled.read_head(), 408, "request-timeout")) << "now it is its turn";
}

TEST_F(short_limits, of_bodies_are_413_on_keyed_routes_however_they_are_framed) {
  const std::string head = "POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: l2\r\n";
  for (const auto& rest : {"Content-Length: 1025\r\n\r\n" + std::string(1025, 'x'),
                           "Transfer-Encoding: chunked\r\n\r\n401\r\n" + std::string(1025, 'x') + "\r\n"}) {
    auto c = s().client();
    c.send(head + rest);
    c.half_close();
    const auto all = c.rest();
    EXPECT_TRUE(is_last_problem(all, c, 413, "request-too-large"));
  }
  EXPECT_FALSE(s().backend.accept(50ms).open());
  auto c = s().client();
  c.send(head + "Content-Length: 1024\r\n\r\n" + std::string(1024, 'x'));
  EXPECT_TRUE(s().backend.accept().open()) << "the limit itself is allowed";
}

TEST(connection_limits, pause_accepting_and_lose_nobody) {
  stage s("max_connections: 2");
  auto one = s.client(), two = s.client();
  for (auto* c : {&one, &two}) {
    c->send(plain_get);
    auto b = s.backend.accept();
    b.read(plain_get.size());
    b.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    c->read_head();
  }
  auto three = s.client();
  three.send(plain_get);
  EXPECT_FALSE(s.backend.accept(300ms).open()) << "a third one is not served";
  EXPECT_GT(s.proxy->metric("idempotency_proxy_accept_pauses_total").value_or(0), 0);
  EXPECT_EQ(s.proxy->metric("idempotency_proxy_connections"), 2);
  one.close();
  EXPECT_TRUE(s.backend.accept(2s).open()) << "but waits, and has its turn";
}

TEST(connection_limits, of_the_kernel_pause_accepting_and_lose_nobody) {
  stage s;
  {
    // once with descriptors to spare: UBSan looks at each type's first object through a pipe, and calls it broken where
    // none can be opened
    auto first = s.client();
    first.send("GET /x\r\n\r\n");
    EXPECT_TRUE(is_problem(first.read_head(), 400, "malformed-request"));
    first.close();
    ASSERT_TRUE(eventually([&] { return s.proxy->metric("idempotency_proxy_connections") == 0; }));
  }
  const auto used = [&](rlim_t number) {
    return std::filesystem::is_symlink("/proc/" + std::to_string(s.proxy->pid()) + "/fd/" + std::to_string(number));
  };
  // the limit is one of numbers, not of how many there are: below it just three are free
  rlim_t limit = 0;
  for (int free = 0; free < 3; ++limit) free += used(limit) ? 0 : 1;
  const rlimit few{limit, limit};
  ASSERT_EQ(::prlimit(s.proxy->pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  std::vector<peer> clients;
  for (int i = 0; i < 12; ++i) clients.push_back(s.client());
  ASSERT_TRUE(eventually([&] {
    for (rlim_t n = 0; n < limit; ++n)
      if (!used(n)) return false;
    return true;
  }));
  for (auto& c : clients) {
    c.send("GET /x\r\n\r\n");  // each is refused with 400 by the proxy alone, which shows that it was accepted
    EXPECT_TRUE(is_problem(c.read_head(), 400, "malformed-request"));
    c.close();
  }
  EXPECT_GT(s.proxy->metric("idempotency_proxy_accept_pauses_total").value_or(0), 0);
}

TEST(connection_limits, of_open_files_are_raised_at_the_start) {
  rlimit mine{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &mine), 0);
  const rlimit low{std::min<rlim_t>(256, mine.rlim_max), mine.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const stage s;  // inherits the low soft limit
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &mine), 0);
  rlimit theirs{};
  ASSERT_EQ(::prlimit(s.proxy->pid(), RLIMIT_NOFILE, nullptr, &theirs), 0);
  EXPECT_EQ(theirs.rlim_cur, mine.rlim_max);
}

// ------------------------------------------------------------------------------------------------------------- memory

std::size_t peak_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6));
  return 0;
}

std::size_t held_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  return 0;
}

TEST(memory, of_large_replays_is_not_held_by_the_connections_that_had_them) {
  if (sanitized()) GTEST_SKIP() << "what a sanitizer holds back hides it";
  constexpr std::size_t size = 8 << 20;
  stage s;
  s.settings.routes = {"{name: keyed, match: {path: /keyed}, idempotency: {max_stored_body: 16MiB}}"};
  s.proxy->reload(s.settings);
  const std::string request =
      "POST /keyed HTTP/1.1\r\nHost: a\r\nAuthorization: t\r\nIdempotency-Key: r1\r\nContent-Length: 2\r\n\r\nhi";
  std::vector<peer> clients;
  const auto gets_it = [&] {
    EXPECT_NE(clients.back().read_head(), "");
    EXPECT_EQ(clients.back().discard(size), size);
  };
  clients.push_back(s.client());
  clients.back().send(request);
  auto b = s.backend.accept();
  b.read_until("\r\n\r\nhi");
  std::thread backend([&] {
    b.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'z'));
  });
  gets_it();
  backend.join();
  const auto before = held_kib(s.proxy->pid());
  for (int i = 0; i < 20; ++i) {
    clients.push_back(s.client());
    clients.back().send(request);
    gets_it();
  }
  // the last ones may still be at their end, and an allocator keeps a little
  EXPECT_TRUE(eventually([&] { return held_kib(s.proxy->pid()) < before + 5 * size / 1024; }))
      << held_kib(s.proxy->pid()) << " KiB, and before " << before;
}

constexpr std::size_t large = 256 << 20;

void send_large(peer& to) {
  const std::string piece(256 * 1024, 'x');
  for (std::size_t n = 0; n < large; n += piece.size()) ASSERT_TRUE(to.send(piece));
}

TEST(memory, stays_small_while_a_large_body_goes_to_a_slow_reader_in_either_direction) {
  stage s;
  const auto length = "Content-Length: " + std::to_string(large) + "\r\n\r\n";
  const auto run = [&](std::string_view method, bool up, bool down) {
    auto c = s.client();
    const auto head = std::string(method) + " /x HTTP/1.1\r\nHost: a\r\n" + (up ? length : "\r\n");
    c.send(head);
    auto b = s.backend.accept();
    ASSERT_EQ(b.read(head.size()), head);
    auto& from = up ? c : b;
    auto& to = up ? b : c;
    if (down) {
      b.send("HTTP/1.1 200 OK\r\nX: 1\r\n" + length);
      EXPECT_NE(c.read_head(), "");
    }
    if (up || down) {
      std::thread sender([&] { send_large(from); });
      EXPECT_TRUE(to.swells());  // the reader is slow at first: everything fills up
      EXPECT_EQ(to.discard(large, 60s), large);
      sender.join();
    }
    if (!down) {
      b.send(plain_ok);
      EXPECT_EQ(c.read(plain_ok.size()), plain_ok);
    }
  };
  run("GET", false, false);
  const auto before = peak_kib(s.proxy->pid());
  run("PUT", true, false);
  run("GET", false, true);
  const auto grown = peak_kib(s.proxy->pid()) - before;
  EXPECT_LT(grown, (sanitized() ? 64U : 8U) * 1024U) << "KiB";
}

}  // namespace
}  // namespace idem::test
