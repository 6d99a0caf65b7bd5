#include "app/reloader.hpp"

#include "app/changes.hpp"
#include "idem/config/load.hpp"
#include "idem/telemetry/log.hpp"

namespace idem::app {

namespace asio = net::asio;
using namespace std::chrono_literals;

namespace {

/// Writers write in pieces: what happens within this time is one change.
constexpr auto settle_time = 150ms;

}  // namespace

reloader::reloader(asio::io_context& io, std::string file, const reading& started, adopt_hook adopt, result_hook result)
    : file_(std::move(file)),
      started_(started.loaded.config),
      current_(started.loaded.config),
      adopt_(std::move(adopt)),
      result_(std::move(result)),
      files_(io, [this] { something_changed(); }),
      settle_(io),
      seen_(started.seen) {}

void reloader::watch() {
  if (!files_.open()) telemetry::warn("the configuration file is not watched: SIGHUP reloads it");
  something_changed();
}

/// Also after each reading, for what changed before it was watched. The way to a file may be another one than it was.
void reloader::something_changed() {
  watch_ways_to(paths_of(seen_));
  settle_.expires_after(settle_time);
  settle_.async_wait([this](const net::error_code& cancelled) {
    if (cancelled || stopped_) return;
    const auto files = paths_of(seen_);
    watch_ways_to(files);
    if (digests_of(files) != seen_) reload("the file changed");
  });
}

void reloader::watch_ways_to(const std::vector<std::string>& files) {
  auto folder = files_.watch(files);
  if (!folder.empty() && folder != unwatched_) {
    telemetry::warn("changes in a folder are not noticed, since it cannot be watched: SIGHUP reloads",
                    {{"folder", std::string_view(folder)}});
  }
  unwatched_ = std::move(folder);
}

void reloader::stop() {
  stopped_ = true;
  settle_.cancel();
  files_.close();
}

void reloader::refuse(std::string_view cause) {
  result_(false);
  telemetry::error("the new configuration is not used; the one from before stays", {{"cause", cause}});
}

void reloader::reload(std::string_view cause) {
  if (stopped_) {
    telemetry::warn("stopping: the configuration is not read again", {{"cause", cause}});
    return;
  }
  const auto [loaded, seen] = read_configuration(file_, paths_of(seen_), started_.get());
  seen_ = seen;
  something_changed();
  for (const auto& f : loaded.findings) {
    const auto text = f.text();
    if (f.level == config::finding::severity::error) {
      telemetry::error("configuration", {{"finding", std::string_view(text)}});
    } else {
      telemetry::warn("configuration", {{"finding", std::string_view(text)}});
    }
  }
  if (!loaded.ok()) return refuse(cause);
  if (const auto why = adopt_(loaded.config); !why.empty()) {
    telemetry::error("configuration", {{"finding", std::string_view(why)}});
    return refuse(cause);
  }
  result_(true);
  warn_of_restarts(*loaded.config);
  warn_of_identity(*loaded.config);
  current_ = loaded.config;
  telemetry::reconfigure_log(current_->logging);
  telemetry::info("configuration taken up",
                  {{"cause", cause}, {"routes", static_cast<std::int64_t>(current_->routes.size())}});
}

/// Against what the process was started with, not the file before: that may not be in force either.
void reloader::warn_of_restarts(const config::snapshot& next) const {
  for (const auto key : needing_restart(*started_, next)) {
    telemetry::warn("a change takes effect only after a restart", {{"key", key}});
  }
}

void reloader::warn_of_identity(const config::snapshot& next) const {
  for (const auto& c : new_key_spaces(*current_, next)) {
    telemetry::warn("what identifies the records of a route changed: keys that were used before are new now",
                    {{"route", std::string_view(c.name)},
                     {"before", std::string_view(c.before)},
                     {"changed", std::string_view(c.changed)}});
  }
}

}  // namespace idem::app
