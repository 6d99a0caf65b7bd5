#include "app/serve.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "app/check.hpp"
#include "app/reloader.hpp"
#include "idem/admin/admin.hpp"
#include "idem/app/app.hpp"
#include "idem/proxy/server.hpp"
#include "idem/telemetry/log.hpp"
#include "idem/telemetry/version.hpp"

namespace idem::app {

namespace asio = net::asio;

namespace {

/// The main thread's side: signals, reload, admin. Requests never come here.
class process {
 public:
  process(const std::string& file, std::shared_ptr<const config::snapshot> config,
          std::unique_ptr<store::backend> store)
      : config_(std::move(config)),
        store_(std::move(store)),
        metrics_(config_->server.threads),
        server_(config_, *store_, metrics_),
        admin_(io_, config_->admin.listen, hooks()),
        signals_(io_, SIGTERM, SIGINT),
        hangup_(io_, SIGHUP),
        reloader_(
            io_, file, config_, [this](auto c) { adopt(std::move(c)); }, [this](bool good) { metrics_.reload(good); }) {
  }

  int run() {
    if (const auto why = server_.listen(); !why.empty()) return refuse(why);
    std::string message;
    if (admin_.listen(message)) return refuse(message);
    server_.start();
    admin_.start();
    wait_for_end();
    wait_for_hangup();
    reloader_.watch();
    std::string where;
    for (const auto& l : config_->server.listen) where += (where.empty() ? "" : ", ") + l.text;
    telemetry::info("listening", {{"address", std::string_view(where)},
                                  {"admin", std::string_view(config_->admin.listen.text)},
                                  {"store", store_->kind()},
                                  {"threads", static_cast<std::int64_t>(config_->server.threads)},
                                  {"version", telemetry::version}});
    io_.run();
    if (stopper_.joinable()) stopper_.join();
    return ok;
  }

 private:
  admin::admin_hooks hooks() {
    return {[this] {
              return admin::readiness{true, server_.draining(), server_.store_reachable(),
                                      config_->admin.ready_requires_store};
            },
            [this] { return metrics_.text(); }, [this] { drain(); }};
  }

  int refuse(const std::string& why) {
    telemetry::error("cannot start", {{"why", std::string_view(why)}});
    return cannot_start;
  }

  void drain() {
    telemetry::info("draining: not ready any more, still serving");
    server_.drain();
  }

  void adopt(std::shared_ptr<const config::snapshot> c) {
    config_ = c;
    server_.adopt(std::move(c));
  }

  void wait_for_hangup() {
    hangup_.async_wait([this](const net::error_code& ec, int) {
      if (ec) return;
      reloader_.reload("SIGHUP");
      wait_for_hangup();
    });
  }

  void wait_for_end() {
    signals_.async_wait([this](const net::error_code& ec, int) {
      if (ec) return;
      if (stopper_.joinable()) std::_Exit(cannot_start);  // asked twice: at once, whatever runs
      telemetry::info("stopping: what runs is finished and stored");
      reloader_.stop();
      stopper_ = std::thread([this, limit = config_->server.timeouts.drain] {
        server_.shutdown(limit);
        asio::post(io_, [this] {
          admin_.close();
          io_.stop();
        });
      });
      wait_for_end();
    });
  }

  asio::io_context io_{1};
  std::shared_ptr<const config::snapshot> config_;
  std::unique_ptr<store::backend> store_;
  telemetry::registry metrics_;
  proxy::server server_;
  admin::admin_server admin_;
  asio::signal_set signals_, hangup_;
  reloader reloader_;
  std::thread stopper_;
};

}  // namespace

int serve(const std::string& file) {
  const auto loaded = config::load_file(file);
  if (!loaded.ok()) {
    print(loaded);
    return invalid_configuration;
  }
  telemetry::start_log(loaded.config->logging);
  for (const auto& f : loaded.findings) telemetry::warn("configuration", {{"finding", std::string_view(f.text())}});
  int code = cannot_start;
  auto store = store::make_backend(loaded.config->store);
  if (const auto why = store->verify(); !why.empty()) {
    telemetry::error("the store cannot be used", {{"why", std::string_view(why)}});
  } else {
    process p(file, loaded.config, std::move(store));
    code = p.run();
  }
  telemetry::info("ended", {{"code", static_cast<std::int64_t>(code)}});
  telemetry::stop_log();
  return code;
}

}  // namespace idem::app
