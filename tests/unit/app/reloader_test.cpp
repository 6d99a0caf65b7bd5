#include "app/reloader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>

#include "support/temporary_folder.hpp"

namespace idem::app {
namespace {

using namespace std::chrono_literals;

/// A file that names the secrets of two callbacks, and a process that takes up what becomes of it.
class a_reload : public testing::Test {
 protected:
  static std::string text(const std::string& url, const std::string& one, const std::string& two) {
    const auto route = [](const std::string& name, const std::string& secret) {
      return "  - {name: " + name + ", match: {path: /" + name +
             "}, idempotency: {signature: {scheme: github, secret_file: \"" + secret + "\"}}}\n";
    };
    return "upstream: {url: \"" + url + "\"}\nroutes:\n" + route("one", one) + route("two", two);
  }

  void begin() {
    const auto started = read_configuration(file_);
    ASSERT_TRUE(started.loaded.ok());
    before_watch_();
    reloader_.emplace(
        io_, file_, started,
        [this](auto c) {
          taken_.push_back(c->upstream.address.port);
          return refusal_;
        },
        [this](bool good) { ++(good ? good_ : bad_); });
    reloader_->watch();
  }
  bool happens(const std::function<bool()>& what, std::chrono::milliseconds limit = 5s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    io_.restart();
    while (!what() && std::chrono::steady_clock::now() < end) io_.run_one_for(5ms);
    return what();
  }

  test::temporary_folder folder_;
  const std::string one_ = folder_.write("one.secret", "first secret of one");
  const std::string two_ = folder_.write("two.secret", "first secret of two");
  const std::string file_ = folder_.write("proxy.yaml", text("http://127.0.0.1:1", one_, two_));
  std::function<void()> before_watch_ = [] {};
  std::string refusal_;
  std::vector<std::uint16_t> taken_;  ///< ports of the upstreams
  int good_ = 0, bad_ = 0;
  net::asio::io_context io_{1};
  std::optional<reloader> reloader_;
};

TEST_F(a_reload, takes_up_what_was_written_between_the_start_and_the_first_watch) {
  before_watch_ = [this] { folder_.write("proxy.yaml", text("http://127.0.0.1:2", one_, two_)); };
  begin();
  EXPECT_TRUE(happens([this] { return good_ == 1; }));
  EXPECT_EQ(taken_, std::vector<std::uint16_t>{2});
  EXPECT_FALSE(happens([this] { return good_ > 1; }, 400ms)) << "once";
}

TEST_F(a_reload, sees_a_change_of_one_file_while_another_is_empty_or_gone) {
  begin();
  folder_.write("one.secret", "");
  EXPECT_TRUE(happens([this] { return bad_ == 1; }));
  folder_.write("two.secret", "second secret of two");
  EXPECT_TRUE(happens([this] { return bad_ == 2; }));
  std::filesystem::remove(one_);
  EXPECT_TRUE(happens([this] { return bad_ == 3; })) << "gone is another thing than empty";
  folder_.write("two.secret", "third secret of two");
  EXPECT_TRUE(happens([this] { return bad_ == 4; }));
  std::filesystem::create_directory(one_);
  folder_.write("two.secret", "fourth secret of two");
  EXPECT_TRUE(happens([this] { return bad_ == 5; }));
  std::filesystem::remove(one_);
  folder_.write("one.secret", "second secret of one");
  EXPECT_TRUE(happens([this] { return good_ == 1; }));
}

TEST_F(a_reload, that_cannot_be_used_after_all_is_a_failure_and_what_it_names_is_watched) {
  begin();
  refusal_ = "the certificate is refused";
  const auto three = folder_.write("three.secret", "first secret of three");
  folder_.write("proxy.yaml", text("http://127.0.0.1:2", one_, three));
  EXPECT_TRUE(happens([this] { return bad_ == 1; }));
  EXPECT_EQ(good_, 0);
  refusal_.clear();
  folder_.write("three.secret", "second secret of three");
  EXPECT_TRUE(happens([this] { return good_ == 1; }));
  folder_.write("two.secret", "second secret of two");
  EXPECT_FALSE(happens([this] { return good_ > 1; }, 400ms)) << "nobody names that one any more";
}

TEST_F(a_reload, notices_that_a_file_which_it_has_asked_for_in_vain_has_come) {
  begin();
  const auto three = (folder_.path() / "three.secret").string();
  folder_.write("proxy.yaml", text("http://127.0.0.1:2", one_, three));
  EXPECT_TRUE(happens([this] { return bad_ == 1; }));
  EXPECT_FALSE(happens([this] { return bad_ > 1; }, 400ms)) << "once";
  folder_.write("three.secret", "first secret of three");
  EXPECT_TRUE(happens([this] { return good_ == 1; }));
  EXPECT_EQ(taken_, std::vector<std::uint16_t>{2});
}

TEST_F(a_reload, watches_what_was_named_before_while_the_file_itself_names_nothing) {
  begin();
  folder_.write("proxy.yaml", "routes: [}");
  EXPECT_TRUE(happens([this] { return bad_ == 1; }));
  folder_.write("one.secret", "second secret of one");
  EXPECT_TRUE(happens([this] { return bad_ == 2; }));
}

TEST_F(a_reload, comes_again_when_the_password_of_the_store_is_whole) {
  const auto password = folder_.write("password", "first");
  const std::string store = "store: {type: redis, redis: {password_file: \"" + password + "\"}}\n";
  folder_.write("proxy.yaml", store + text("http://127.0.0.1:1", one_, two_));
  begin();
  folder_.write("password", "");
  EXPECT_TRUE(happens([this] { return bad_ == 1; }));
  folder_.write("proxy.yaml", store + text("http://127.0.0.1:2", one_, two_));
  EXPECT_TRUE(happens([this] { return bad_ == 2; }));
  folder_.write("password", "second");
  EXPECT_TRUE(happens([this] { return good_ == 1; })) << "without another sign";
  EXPECT_EQ(taken_, std::vector<std::uint16_t>{2});
}

TEST_F(a_reload, goes_by_what_the_process_was_started_with) {
  const auto file = [this](const std::string& listen, int upstream) {
    return "server: {listen: [\"127.0.0.1:" + listen + "\"]}\n" +
           text("http://127.0.0.1:" + std::to_string(upstream), one_, two_);
  };
  folder_.write("proxy.yaml", file("8080", 1));
  begin();
  folder_.write("proxy.yaml", file("8081", 2));
  EXPECT_TRUE(happens([this] { return good_ == 1; }));
  folder_.write("proxy.yaml", file("8081", 8080));
  EXPECT_TRUE(happens([this] { return bad_ == 1; })) << "it still listens there";
  EXPECT_EQ(taken_, std::vector<std::uint16_t>{2});
}

TEST_F(a_reload, does_not_wait_for_the_end_of_a_device) {
  begin();
  folder_.write("proxy.yaml", text("http://127.0.0.1:2", one_, "/dev/zero"));
  EXPECT_TRUE(happens([&] { return bad_ == 1; }));
  EXPECT_TRUE(taken_.empty());
}

TEST_F(a_reload, does_not_wait_for_more_from_a_pipe_that_the_configuration_came_through) {
  const auto pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto writing = std::async(std::launch::async, [&] { std::ofstream(pipe) << text("http://127.0.0.1:1", one_, two_); });
  auto started = std::async(std::launch::async, [&] {
    auto read = read_configuration(pipe);
    return std::pair(read, digests_of(paths_of(read.seen)));
  });
  // whoever still waits has another writer then, and its end
  while (started.wait_for(2s) != std::future_status::ready) ::close(::open(pipe.c_str(), O_RDWR | O_NONBLOCK));
  const auto [read, again] = started.get();
  ASSERT_TRUE(read.loaded.ok()) << read.loaded.findings.at(0).text();
  EXPECT_TRUE(read.seen.contains(one_) && read.seen.contains(two_));
  EXPECT_EQ(again, read.seen);
}

}  // namespace
}  // namespace idem::app
