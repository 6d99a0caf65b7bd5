#include "app/reloader.hpp"

#include <fstream>
#include <sstream>

#include "app/changes.hpp"
#include "idem/config/load.hpp"
#include "idem/telemetry/log.hpp"

namespace idem::app {

namespace asio = net::asio;
using namespace std::chrono_literals;

namespace {

/// Writers write in pieces: what happens within this time is one change.
constexpr auto settle_time = 150ms;

std::vector<std::string> files_of(const std::string& file, const config::snapshot& c) {
  std::vector<std::string> all = {file,
                                  c.server.tls.certificate,
                                  c.server.tls.key,
                                  c.server.tls.client_ca,
                                  c.upstream.tls.ca,
                                  c.upstream.tls.certificate,
                                  c.upstream.tls.key};
  for (const auto& r : c.routes) {
    const auto& i = r.idempotency;
    all.insert(all.end(), {i.jwt.jwks_file, i.jwt.hmac_secret_file, i.signature.secret_file});
  }
  std::erase(all, std::string{});
  return all;
}

}  // namespace

reloader::reloader(asio::io_context& io, std::string file, std::shared_ptr<const config::snapshot> current,
                   adopt_hook adopt, result_hook result)
    : file_(std::move(file)),
      started_(current),
      current_(std::move(current)),
      adopt_(std::move(adopt)),
      result_(std::move(result)),
      files_(io, [this] { something_changed(); }),
      settle_(io) {}

std::string reloader::contents() const {
  std::ostringstream all;
  for (const auto& f : files_of(file_, *current_))
    all << f << '\0' << std::ifstream(f, std::ios::binary).rdbuf() << '\0';
  return all.str();
}

void reloader::watch() {
  seen_ = contents();
  if (!files_.open()) telemetry::warn("the configuration file is not watched: SIGHUP reloads it");
  files_.watch(files_of(file_, *current_));
}

/// What is new on the way is watched before the files are read: what changes after that is told again.
void reloader::something_changed() {
  settle_.expires_after(settle_time);
  settle_.async_wait([this](const net::error_code& cancelled) {
    if (cancelled || stopped_) return;
    files_.watch(files_of(file_, *current_));
    if (contents() != seen_) reload("the file changed");
  });
}

void reloader::stop() {
  stopped_ = true;
  settle_.cancel();
  files_.close();
}

void reloader::reload(std::string_view cause) {
  if (stopped_) {
    telemetry::warn("stopping: the configuration is not read again", {{"cause", cause}});
    return;
  }
  auto loaded = config::load_file(file_);
  seen_ = contents();
  for (const auto& f : loaded.findings) {
    const auto text = f.text();
    if (f.level == config::finding::severity::error) {
      telemetry::error("configuration", {{"finding", std::string_view(text)}});
    } else {
      telemetry::warn("configuration", {{"finding", std::string_view(text)}});
    }
  }
  result_(loaded.ok());
  if (!loaded.ok()) {
    telemetry::error("the new configuration is not used; the one from before stays", {{"cause", cause}});
    return;
  }
  warn_of_restarts(*loaded.config);
  warn_of_identity(*loaded.config);
  current_ = loaded.config;
  seen_ = contents();
  files_.watch(files_of(file_, *current_));
  telemetry::reconfigure_log(current_->logging);
  adopt_(current_);
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
    if (c.name == c.before) {
      telemetry::warn("the route's namespace, scope or key sources changed: keys that were used before are new now",
                      {{"route", std::string_view(c.name)}});
    } else {
      telemetry::warn("a route has another name, and no namespace that stayed: keys that were used before are new now",
                      {{"route", std::string_view(c.name)}, {"before", std::string_view(c.before)}});
    }
  }
}

}  // namespace idem::app
