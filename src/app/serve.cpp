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

/// The main thread's loop and the signals that it hears. They are caught from the moment that this exists: one that
/// comes before the loop runs waits for it.
struct signal_loop {
  asio::io_context io{1};
  asio::signal_set end{io, SIGTERM, SIGINT}, hangup{io, SIGHUP};

  /// Whether the process was asked to end before it served. What else came keeps waiting.
  bool asked_to_end() {
    bool asked = false;
    end.async_wait([&asked](const net::error_code& ec, int) { asked = !ec; });
    io.poll();
    end.cancel();
    io.poll();
    io.restart();
    return asked;
  }
};

/// An address as it is configured, but with the port that was chosen where the configuration leaves that to the system.
std::string bound(const config::endpoint& address, std::uint16_t port) {
  if (address.is_unix() || address.port != 0) return address.text;
  return address.text.substr(0, address.text.rfind(':') + 1) + std::to_string(port);
}

/// The main thread's side: signals, reload, admin. Requests never come here.
class process {
 public:
  process(signal_loop& loop, const std::string& file, const reading& started, std::unique_ptr<store::backend> store)
      : io_(loop.io),
        signals_(loop.end),
        hangup_(loop.hangup),
        config_(started.loaded.config),
        store_(std::move(store)),
        metrics_(config_->server.threads),
        server_(config_, *store_, metrics_),
        admin_(io_, config_->admin.listen, hooks()),
        reloader_(
            io_, file, started, [this](auto c) { return adopt(std::move(c)); },
            [this](bool good) { metrics_.reload(good); }) {}

  int run() {
    if (const auto why = server_.listen(); !why.empty()) return refuse(why);
    std::string message;
    if (admin_.listen(message)) return refuse(message);
    server_.start();
    admin_.start();
    wait_for_end();
    wait_for_hangup();
    reloader_.watch();
    const auto where = addresses();
    const auto admin = bound(config_->admin.listen, admin_.port());
    telemetry::info("listening", {{"address", std::string_view(where)},
                                  {"admin", std::string_view(admin)},
                                  {"store", store_->kind()},
                                  {"threads", static_cast<std::int64_t>(config_->server.threads)},
                                  {"version", telemetry::version}});
    io_.run();
    if (stopper_.joinable()) stopper_.join();
    return ok;
  }

 private:
  /// The addresses of server.listen, with the ports that the system chose.
  std::string addresses() const {
    const auto ports = server_.ports();
    auto port = ports.begin();
    std::string all;
    for (const auto& l : config_->server.listen) {
      all += (all.empty() ? "" : ", ") + bound(l, l.is_unix() ? 0 : *port++);
    }
    return all;
  }

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
    if (server_.draining()) return;  // also when it stops
    telemetry::info("draining: not ready any more, still serving");
    server_.drain();
  }

  std::string adopt(std::shared_ptr<const config::snapshot> c) {
    auto why = server_.adopt(c);
    if (why.empty()) config_ = std::move(c);
    return why;
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

  asio::io_context& io_;
  asio::signal_set &signals_, &hangup_;
  std::shared_ptr<const config::snapshot> config_;
  std::unique_ptr<store::backend> store_;
  telemetry::registry metrics_;
  proxy::server server_;
  admin::admin_server admin_;
  reloader reloader_;
  std::thread stopper_;
};

int check_store_and_run(signal_loop& loop, const std::string& file, const reading& started) {
  auto store = store::make_backend(started.loaded.config->store);
  const auto why = store->verify();
  if (loop.asked_to_end()) {
    telemetry::info("stopping: nothing was served yet");
    return ok;
  }
  if (!why.empty()) {
    telemetry::error("the store cannot be used", {{"why", std::string_view(why)}});
    return cannot_start;
  }
  process p(loop, file, started, std::move(store));
  return p.run();
}

}  // namespace

int serve(const std::string& file) {
  // before anything that takes time: a store that does not answer is waited for
  signal_loop loop;
  const auto started = read_configuration(file);
  const auto& loaded = started.loaded;
  if (!loaded.ok()) {
    print(loaded);
    return invalid_configuration;
  }
  telemetry::start_log(loaded.config->logging);
  for (const auto& f : loaded.findings) telemetry::warn("configuration", {{"finding", std::string_view(f.text())}});
  const int code = check_store_and_run(loop, file, started);
  telemetry::info("ended", {{"code", static_cast<std::int64_t>(code)}});
  telemetry::stop_log();
  return code;
}

}  // namespace idem::app
