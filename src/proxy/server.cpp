#include "idem/proxy/server.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <csignal>
#include <latch>
#include <map>
#include <set>
#include <thread>

#include "idem/net/socket_file.hpp"
#include "idem/telemetry/log.hpp"
#include "proxy/aftermath.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/listener.hpp"
#include "proxy/tls.hpp"
#include "proxy/waiters.hpp"

namespace idem::proxy {

namespace asio = net::asio;
using namespace std::chrono_literals;

/// By the route's name: a reload forgets nothing.
using times_of_routes = std::map<std::string, std::shared_ptr<idempotency::execution_times>, std::less<>>;

struct server::impl {
  impl(std::shared_ptr<const config::snapshot> c, store::backend& s, telemetry::registry& m)
      : config(std::move(c)), store(s), metrics(m) {}

  std::shared_ptr<const config::snapshot> config;
  store::backend& store;
  telemetry::registry& metrics;
  shared_state shared;
  waiter_counts counts;
  std::shared_ptr<idempotency::known_settings> known;
  times_of_routes times;
  std::vector<std::unique_ptr<worker>> workers;
  std::vector<std::shared_ptr<listener>> listeners;  ///< in the order of workers, then addresses
  std::vector<worker*> listener_workers;
  std::vector<net::socket_file> socket_files;  ///< they go before the listeners close
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<asio::executor_work_guard<net::executor>>> guards;
  std::vector<std::uint16_t> ports;

  /// What a reload changes, as it is now.
  struct parts {
    std::shared_ptr<const config::snapshot> config;
    std::shared_ptr<const idempotency::known_settings> known;
    times_of_routes times;
    std::shared_ptr<asio::ssl::context> server_tls, upstream_tls;
  };
  void take(std::shared_ptr<const config::snapshot> c);
  parts now() const { return {config, known, times, server_tls, upstream_tls}; }
  std::shared_ptr<runtime> make_runtime(worker& w, const parts& now);
  std::shared_ptr<asio::ssl::context> server_tls, upstream_tls;
  std::string make_tls(const config::snapshot& c);

  template <class F>
  void on_each(F f) {
    for (auto& w : workers) asio::post(w->io, [f, p = w.get()] { f(*p); });
  }
  /// The same, and returns when all of them have run it. Not on a thread of theirs.
  template <class F>
  void on_all(F f) {
    std::latch have_run(static_cast<std::ptrdiff_t>(workers.size()));
    on_each([&](worker& w) {
      f(w);
      have_run.count_down();
    });
    have_run.wait();
  }
  void close_listeners(worker& of);
};

namespace {

bool same_upstream(const config::upstream_config& a, const config::upstream_config& b) {
  return a.address.text == b.address.text && a.tls.enabled == b.tls.enabled && a.tls.ca == b.tls.ca &&
         a.tls.server_name == b.tls.server_name && a.tls.certificate == b.tls.certificate && a.tls.key == b.tls.key &&
         a.tls.verify == b.tls.verify && a.keep_alive_idle == b.keep_alive_idle &&
         a.keep_alive_max_idle == b.keep_alive_max_idle && a.connect_timeout == b.connect_timeout;
}

/// Those with a route that goes on without a store.
std::set<std::string> namespaces_past_store(const config::snapshot& c) {
  std::set<std::string> names;
  for (const auto& r : c.routes) {
    if (r.idempotency.on_store_error == config::store_error_policy::allow) names.insert(r.idempotency.name_space);
  }
  return names;
}

/// The soft limit of open files becomes the hard one: a proxy needs two for each request.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

server::server(std::shared_ptr<const config::snapshot> config, store::backend& store, telemetry::registry& metrics)
    : impl_(std::make_unique<impl>(std::move(config), store, metrics)) {}

server::~server() {
  impl_->socket_files.clear();
  // Coroutines hold objects of their worker: they go before it does.
  impl_->listeners.clear();
}

/// Both sides or none of them. Returns what is wrong, or an empty string.
std::string server::impl::make_tls(const config::snapshot& c) {
  std::string error;
  auto in = make_server_tls(c.server.tls, error);
  if (!error.empty()) return error;
  auto out = make_upstream_tls(c.upstream.tls, error);
  if (!error.empty()) return error;
  server_tls = std::move(in);
  upstream_tls = std::move(out);
  return {};
}

/// A configuration, with what belongs to its routes.
void server::impl::take(std::shared_ptr<const config::snapshot> c) {
  auto settings =
      known ? std::make_shared<idempotency::known_settings>(*known) : std::make_shared<idempotency::known_settings>();
  times_of_routes kept;
  for (const auto& r : c->routes) {
    settings->add(r.idempotency.fingerprint);
    auto& of_route = kept[r.name] = times[r.name];
    if (!of_route) of_route = std::make_shared<idempotency::execution_times>();
  }
  known = std::move(settings);
  times = std::move(kept);
  config = std::move(c);
}

/// On any thread: everything that a later reload changes is handed in.
std::shared_ptr<runtime> server::impl::make_runtime(worker& w, const parts& now) {
  const auto& c = now.config;
  auto r = std::make_shared<runtime>();
  r->config = c;
  r->known = now.known;
  r->server_tls = now.server_tls;
  const auto& before = w.current;
  if (before && same_upstream(before->config->upstream, c->upstream) && !c->upstream.tls.enabled) {
    r->pool = before->pool;
  } else {
    r->pool = std::make_shared<upstream_pool>(w.io, w.wheel, c->upstream, now.upstream_tls, w.metrics,
                                              before ? before->pool.get() : nullptr);
  }
  r->unrouted = &metrics.route(w.index, "");
  for (const auto& route : c->routes) {
    r->routes.push_back({&route, &metrics.route(w.index, route.name),
                         idempotency::prepared_settings(route.idempotency.fingerprint), now.times.at(route.name),
                         cors_lines(route.idempotency.cors)});
  }
  return r;
}

std::string server::listen() {
  auto& i = *impl_;
  raise_file_limit();
  if (auto why = i.make_tls(*i.config); !why.empty()) return why;
  i.take(i.config);
  for (unsigned n = 0; n < i.config->server.threads; ++n) {
    i.workers.push_back(std::make_unique<worker>(n, i.shared, i.store, i.metrics, i.counts));
    i.workers.back()->remember(namespaces_past_store(*i.config));
    i.workers.back()->adopt(i.make_runtime(*i.workers.back(), i.now()));
  }
  for (const auto& where : i.config->server.listen) {
    std::string error;
    std::uint16_t port = 0;
    const int first = bind_listener(where, error, port);
    if (first < 0) return error;
    if (where.is_unix()) i.socket_files.emplace_back(where.unix_path);
    if (!where.is_unix()) i.ports.push_back(port);
    for (auto& w : i.workers) {
      const int fd = w == i.workers.front() ? first : share_listener(first, where, port, error);
      if (fd < 0) return error;
      i.listeners.push_back(std::make_shared<listener>(*w, fd, where.is_unix()));
      i.listener_workers.push_back(w.get());
    }
  }
  return {};
}

void server::start() {
  auto& i = *impl_;
  i.store.subscribe(i.workers.front()->io, [&i](std::string_view name) {
    i.on_each([text = std::string(name)](worker& w) { w.waiters->notify(text); });
  });
  for (auto& l : i.listeners) l->start();
  for (auto& w : i.workers) {
    i.guards.push_back(std::make_unique<asio::executor_work_guard<net::executor>>(w->io.get_executor()));
    i.threads.emplace_back([p = w.get()] {
      ::pthread_setname_np(::pthread_self(), ("worker-" + std::to_string(p->index)).c_str());
      p->watch_store();
      p->io.run();
    });
  }
}

std::string server::adopt(std::shared_ptr<const config::snapshot> config) {
  auto& i = *impl_;
  const auto served = i.server_tls;
  if (auto why = i.make_tls(*config); !why.empty()) return why;
  // A listener speaks TLS or does not from its start to its end: clients of it must not fall back to plain text.
  if ((served == nullptr) != (i.server_tls == nullptr)) i.server_tls = served;
  i.take(std::move(config));
  // All threads before any: one that goes past the store must know what runs on the others.
  i.on_all([names = namespaces_past_store(*i.config)](worker& w) { w.remember(names); });
  for (auto& w : i.workers) {
    asio::post(w->io, [&i, p = w.get(), now = i.now()] { p->adopt(i.make_runtime(*p, now)); });
  }
  return {};
}

void server::drain() {
  auto& i = *impl_;
  i.shared.draining.store(true);
  i.metrics.draining(true);
  i.on_each([](worker& w) { w.waiters->drain(); });
}

bool server::draining() const { return impl_->shared.draining.load(); }

void server::impl::close_listeners(worker& of) {
  for (std::size_t n = 0; n < listeners.size(); ++n) {
    if (listener_workers[n] == &of) listeners[n]->close();
  }
}

void server::shutdown(std::chrono::milliseconds limit) {
  auto& i = *impl_;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  drain();
  i.socket_files.clear();
  // What the kernel had accepted is counted when this returns.
  i.on_all([&i](worker& w) {
    i.close_listeners(w);
    const auto all = w.connections;
    for (auto* c : all) c->begin_drain();
  });
  const bool done = i.shared.unfinished.wait_until(deadline);
  i.shared.stopping.store(true);
  if (!done) {
    i.on_each([](worker& w) {
      const auto all = w.connections;
      for (auto* c : all) c->break_off();
      w.aftermath->hurry();
    });
    // What was broken off is declared in the store: one command for each, all in one pipeline.
    i.shared.unfinished.wait_until(std::chrono::steady_clock::now() + 2 * i.config->store.redis.command_timeout +
                                   500ms);
  }
  i.on_all([](worker& w) {
    w.store->close();
    w.current->pool->close_idle();
    w.wheel.stop();
  });
  // What closing has ended is told before the next thing that is posted.
  i.on_all([](worker&) {});
  i.guards.clear();
  for (auto& w : i.workers) w->io.stop();
  for (auto& t : i.threads) t.join();
}

bool server::store_reachable() const {
  // As the gauge says it: requests of a thread that is without the store are refused.
  const auto& all = impl_->workers;
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const auto& w) {
    return w->metrics.store_up.load(std::memory_order_relaxed) != 0;
  });
}

std::vector<std::uint16_t> server::ports() const { return impl_->ports; }

}  // namespace idem::proxy
