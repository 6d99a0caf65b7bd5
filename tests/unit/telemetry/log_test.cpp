#include "idem/telemetry/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/log_queue.hpp"

namespace idem::telemetry {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

config::logging_config settings(config::log_level level = config::log_level::info) {
  config::logging_config s;
  s.level = level;
  return s;
}

std::vector<boost::json::object> parsed_lines(const std::string& text) {
  std::vector<boost::json::object> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    EXPECT_NE(end, std::string::npos) << "the last line is not whole";
    lines.push_back(boost::json::parse(text.substr(at, end - at)).as_object());
    at = end + 1;
  }
  return lines;
}

access_entry one_request() {
  access_entry e;
  e.at = std::chrono::system_clock::now();
  e.method = "POST";
  e.route = "orders";
  e.status = 201;
  e.what = decision::executed;
  return e;
}

TEST(log, before_the_start_and_after_the_stop_lines_are_written_at_once) {
  CaptureStderr();
  warn("early", {{"text", "with {braces} and %v"}});
  EXPECT_EQ(parsed_lines(GetCapturedStderr()).at(0).at("text"), "with {braces} and %v");
  start_log(settings());
  stop_log();
  CaptureStderr();
  error("late");
  access(one_request());
  const auto lines = parsed_lines(GetCapturedStderr());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("event"), "late");
  EXPECT_EQ(lines[1].at("event"), "request");
}

TEST(log, what_was_logged_before_the_stop_is_written_when_it_returns) {
  CaptureStderr();
  start_log(settings());
  for (int i = 0; i < 1000; ++i) {
    info("event", {{"number", i}});
    access(one_request());
  }
  stop_log();
  const auto lines = parsed_lines(GetCapturedStderr());
  ASSERT_EQ(lines.size(), 2000u);
  EXPECT_EQ(lines[1998].at("number"), 999);
  EXPECT_EQ(lines[1999].at("route"), "orders");
}

TEST(log, lines_below_the_level_are_not_written_and_a_reload_changes_the_level) {
  CaptureStderr();
  start_log(settings(config::log_level::warn));
  debug("no");
  info("no");
  warn("yes");
  error("yes");
  reconfigure_log(settings(config::log_level::debug));
  debug("yes");
  stop_log();
  reconfigure_log(settings());
  debug("no");
  const auto lines = parsed_lines(GetCapturedStderr());
  ASSERT_EQ(lines.size(), 3u);
  for (const auto& line : lines) EXPECT_EQ(line.at("event"), "yes");
  EXPECT_EQ(lines[0].at("level"), "warn");
  EXPECT_EQ(lines[2].at("level"), "debug");
}

TEST(log, access_lines_can_be_switched_off) {
  CaptureStderr();
  auto s = settings();
  s.access = false;
  reconfigure_log(s);
  EXPECT_FALSE(access_log_on());
  access(one_request());
  reconfigure_log(settings());
  EXPECT_TRUE(access_log_on());
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(log, what_a_client_can_make_long_is_cut) {
  CaptureStderr();
  auto e = one_request();
  e.route.clear();
  e.method.assign(1000, 'M');
  e.path.assign(1000, 'p');
  access(std::move(e));
  const auto line = parsed_lines(GetCapturedStderr()).at(0);
  EXPECT_EQ(line.at("method").as_string().size(), 32u);
  EXPECT_EQ(line.at("path").as_string().size(), 256u);
}

/// Standard error becomes a pipe that nobody reads until drain() is called.
class stuck_stderr {
 public:
  stuck_stderr() {
    EXPECT_EQ(::pipe2(pipe_, O_CLOEXEC), 0);
    saved_ = ::dup(STDERR_FILENO);
    ::dup2(pipe_[1], STDERR_FILENO);
  }
  std::string drain_while(const std::function<void()>& work) {
    std::string text;
    std::thread reader([&] {
      char buffer[65536];
      for (ssize_t n; (n = ::read(pipe_[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
    });
    work();
    ::dup2(saved_, STDERR_FILENO);
    ::close(pipe_[1]);
    reader.join();
    ::close(pipe_[0]);
    ::close(saved_);
    return text;
  }

 private:
  int pipe_[2] = {-1, -1};
  int saved_ = -1;
};

TEST(log, a_reader_that_does_not_read_costs_access_lines_but_blocks_nobody) {
  stuck_stderr pipe;
  start_log(settings());
  constexpr std::size_t many = 3 * log_queue::access_room;
  const auto lost_before = dropped_log_lines();
  for (std::size_t i = 0; i < many; ++i) access(one_request());  // returns, although nobody reads
  error("in between");
  const auto lines = parsed_lines(pipe.drain_while([] { stop_log(); }));
  const auto lost = dropped_log_lines() - lost_before;
  EXPECT_GT(lost, 0u);
  std::size_t requests = 0, events = 0, reported = 0;
  for (const auto& line : lines) {
    requests += line.at("event") == "request";
    events += line.at("event") == "in between";
    if (line.at("event") == "log lines dropped") reported += static_cast<std::size_t>(line.at("lines").as_int64());
  }
  EXPECT_EQ(requests + lost, many);
  EXPECT_EQ(reported, lost);
  EXPECT_EQ(events, 1u);
}

}  // namespace
}  // namespace idem::telemetry
