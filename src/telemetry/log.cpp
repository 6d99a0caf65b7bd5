#include "idem/telemetry/log.hpp"

#include <spdlog/logger.h>

#include <memory>

#include "telemetry/log_queue.hpp"
#include "telemetry/stderr_sink.hpp"

namespace idem::telemetry {
namespace {

using config::log_format;
using config::log_level;

// One call of the sink is one write to standard error; as many lines as make a good write go together.
constexpr std::size_t write_size = 32 * 1024;
constexpr auto stop_limit = std::chrono::seconds(5);

class log_state {
 public:
  log_state() : out_("idem", std::make_shared<stderr_sink>()), queue_(writer()) {
    out_.set_pattern("%v");
    out_.set_level(spdlog::level::trace);
  }

  void take(const config::logging_config& settings) {
    level_.store(settings.level, std::memory_order_relaxed);
    format_.store(settings.format, std::memory_order_relaxed);
    access_.store(settings.access, std::memory_order_relaxed);
  }
  void start() {
    if (!stuck_) queue_.start();
  }
  void stop() {
    if (!queue_.stop(stop_limit)) stuck_ = true;
  }
  bool wants(log_level level) const { return level >= level_.load(std::memory_order_relaxed); }
  bool wants_access() const { return access_.load(std::memory_order_relaxed); }

  void put(log_entry&& e) {
    if (queue_.push(std::move(e)) || stuck_) return;
    std::string text;
    append(text, e);
    out_.info(text);
  }

 private:
  log_queue::writer writer() {
    return [this](const std::vector<log_entry>& entries, std::uint64_t dropped) { write(entries, dropped); };
  }
  void append(std::string& text, const log_entry& e) const {
    std::visit([&](const auto& x) { append_line(text, x, format_.load(std::memory_order_relaxed)); }, e);
  }

  void write(const std::vector<log_entry>& entries, std::uint64_t dropped) {
    std::string text;
    text.reserve(write_size + 4096);
    auto add = [&](const log_entry& e) {
      if (!text.empty()) text += '\n';
      append(text, e);
      if (text.size() < write_size) return;
      out_.info(text);
      text.clear();
    };
    for (const auto& e : entries) add(e);
    if (dropped > 0) {
      add(event_entry(log_level::warn, "log lines dropped", {{"lines", static_cast<std::int64_t>(dropped)}}));
    }
    if (!text.empty()) out_.info(text);
  }

  std::atomic<log_level> level_{log_level::info};
  std::atomic<log_format> format_{log_format::json};
  std::atomic<bool> access_{true};
  std::atomic<bool> stuck_{false};  // standard error takes nothing: a line written at once would hang, too
  spdlog::logger out_;
  log_queue queue_;
};

// Never destroyed: threads may log until the process is gone.
log_state& state() {
  static log_state& s = *new log_state;
  return s;
}

void event(log_level level, std::string_view what, log_fields fields) {
  if (state().wants(level)) state().put(event_entry(level, what, fields));
}

}  // namespace

void start_log(const config::logging_config& settings) {
  state().take(settings);
  state().start();
}

void reconfigure_log(const config::logging_config& settings) { state().take(settings); }

void stop_log() { state().stop(); }

void debug(std::string_view what, log_fields fields) { event(log_level::debug, what, fields); }
void info(std::string_view what, log_fields fields) { event(log_level::info, what, fields); }
void warn(std::string_view what, log_fields fields) { event(log_level::warn, what, fields); }
void error(std::string_view what, log_fields fields) { event(log_level::error, what, fields); }

bool access_log_on() { return state().wants_access(); }

void access(access_entry&& e) {
  if (!state().wants_access()) return;
  if (e.method.size() > 32) e.method.resize(32);
  if (e.path.size() > 256) e.path.resize(256);
  state().put(std::move(e));
}

}  // namespace idem::telemetry
