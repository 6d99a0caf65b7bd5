#include "faults/chaos.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

#include "faults/records.hpp"
#include "faults/workload.hpp"
#include "support/eventually.hpp"
#include "support/proxy_process.hpp"
#include "support/redis_server.hpp"
#include "support/relay.hpp"

namespace idem::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto longest_lease = 2s;

std::string route(const std::string& name) {
  std::string policy =
      "scope: [\"header:X-Tenant\"], retention: 2h, hold: 2h, max_stored_body: 4KiB, "
      "max_processing: 20s, lease: ";
  policy += name == "waiting" ? "2s, in_flight: {respond: wait, wait: 2s}" : "1s";
  if (name == "again") policy += ", guarantee: at_least_once";
  return "{name: " + name + ", match: {prefix: /" + name + "/}, response_timeout: 10s, idempotency: {" + policy + "}}";
}

/// A proxy, and its own way to the store.
struct station {
  station(const run_options& o, std::uint16_t redis_port, const std::string& backend) : way(redis_port) {
    proxy_settings s;
    s.upstream = backend;
    for (const auto& r : o.routes) s.routes.push_back(route(r));
    s.redis_port = way.port();
    s.binary = o.binary;
    proxy = std::make_unique<proxy_process>(s);
  }

  /// Bytes were lost: the connections that miss them must not live on, as in TCP none could.
  void heal() {
    way.cut();
    way.swallow_replies(false);
    way.blackhole(false);
    way.refuse(false);
    way.delay(0ms);
  }

  /// Another program may hold the port for a while.
  void start() {
    const bool started = eventually(
        [&] {
          try {
            proxy->start();
            return true;
          } catch (const std::runtime_error&) {
            return false;
          }
        },
        60s);
    if (!started) throw std::runtime_error("a killed proxy does not start again: " + proxy->log());
  }

  relay way;
  std::unique_ptr<proxy_process> proxy;
};

struct fault {
  std::string name;
  std::function<void()> begin, end;
};

class scene {
 public:
  explicit scene(const run_options& o)
      : options_(o), work_{o.seed, o.routes}, backend_(work_, recorder_), dice_(o.seed * 17 + 5) {
    for (auto& s : stations_) s = std::make_unique<station>(o, redis_.port(), backend_.server().url());
  }

  history play() {
    watcher eyes(redis_.port(), recorder_);
    clients crowd(work_, {stations_[0]->proxy->port(), stations_[1]->proxy->port()}, recorder_, options_.clients);
    const auto end = steady_clock::now() + options_.length;
    while (steady_clock::now() < end) {
      if (options_.faults) misbehave();
      std::this_thread::sleep_for(roll(dice_, 50, 600));
    }
    if (options_.faults) kill_all();
    for (auto& s : stations_) s->heal();
    crowd.stop();
    crowd.ask_for_all();
    settle();
    auto h = recorder_.snapshot();
    h.logs = {diary_, stations_[0]->proxy->log(), stations_[1]->proxy->log()};
    return h;
  }

 private:
  /// What is owed to the store is tried again every second.
  void settle() {
    std::vector<stored_record> all;
    eventually(
        [&] {
          all = read_records(redis_.port());
          return std::none_of(all.begin(), all.end(), [](const auto& r) { return r.alive(); });
        },
        60s);
    recorder_.set_at_the_end(std::move(all));
  }

  void misbehave() {
    std::vector<fault> chosen{at_a_station(0), at_a_station(1), at_the_store()};
    std::vector<fault> now;
    const auto which = roll(dice_, 8);  // one of the three, or two of them
    if (which < 3 || which == 6) now.push_back(chosen[0]);
    if (which >= 3 && which < 6) now.push_back(chosen[1]);
    if (which == 0) now.push_back(chosen[1]);
    if (which == 7 || which == 1) now.push_back(chosen[2]);
    reads_work_ = now.size() == 1 && which == 7 && eventually([this] { return all_reach_the_store(); });
    for (const auto& f : now) note(f.name), f.begin();
    std::this_thread::sleep_for(roll(dice_, 100, 3000));
    for (auto f = now.rbegin(); f != now.rend(); ++f) f->end();
    note("over");
  }

  bool all_reach_the_store() const {
    return std::all_of(stations_.begin(), stations_.end(),
                       [](const auto& s) { return s->proxy->metric("idempotency_proxy_store_up") == 1.0; });
  }

  void note(const std::string& what) { diary_ += std::to_string(unix_ms()) + " " + what + "\n"; }
  static std::int64_t unix_ms() {
    return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

  fault at_a_station(std::size_t number) {
    auto& s = *stations_[number];
    const auto whose = " " + std::to_string(number);
    const auto heal = [&s] { s.heal(); };
    const auto size = roll(dice_, 300);
    const auto time = roll(dice_, 10, 400);
    switch (roll(dice_, 9)) {
      case 0: return {"kill" + whose, [&s] { s.proxy->kill(); }, [&s] { s.start(); }};
      case 1:
      case 2: return {"stop" + whose, [&s] { s.proxy->pause(); }, [&s] { s.proxy->resume(); }};
      case 3: return {"delay" + whose, [&s, time] { s.way.delay(time); }, [&s] { s.way.delay(0ms); }};
      case 4: return {"cut" + whose, [&s] { s.way.cut(); }, [] {}};
      case 5: return {"cut in a reply" + whose, [&s, size] { s.way.cut_after_reply_bytes(size); }, [] {}};
      case 6: return {"swallow" + whose, [&s] { s.way.swallow_replies(true); }, heal};
      case 7: return {"blackhole" + whose, [&s] { s.way.blackhole(true); }, heal};
      default: return {"refuse" + whose, [&s] { s.way.refuse(true), s.way.cut(); }, heal};
    }
  }

  fault at_the_store() {
    const auto opened = [this] { window_.from = steady_clock::now() + 100ms; };
    const auto closed = [this](bool reads_work) {
      window_.to = steady_clock::now();
      window_.reads_work = reads_work;
      recorder_.add(window_);
    };
    if (roll(dice_, 2) == 0) {
      return {"store stopped", [this, opened] { redis_.pause(), opened(); },
              [this, closed] { closed(false), redis_.resume(); }};
    }
    return {"store full", [this, opened] { redis_.command({"CONFIG", "SET", "maxmemory", "1"}), opened(); },
            [this, closed] { closed(reads_work_), redis_.command({"CONFIG", "SET", "maxmemory", "0"}); }};
  }

  /// What was in flight has lost its owner for good.
  void kill_all() {
    std::this_thread::sleep_for(500ms);
    for (auto& s : stations_) s->proxy->kill();
    for (auto& s : stations_) s->heal();
    std::this_thread::sleep_for(longest_lease + 500ms);
    recorder_.set_after_owners_died(read_records(redis_.port()));
    for (auto& s : stations_) s->start();
  }

  const run_options options_;
  const workload work_;
  recorder recorder_;
  redis_server redis_;
  eventful_backend backend_;
  std::array<std::unique_ptr<station>, 2> stations_;
  store_window window_;
  bool reads_work_ = false;  ///< nothing but the store is at fault, and every proxy had reached it
  dice dice_;
  std::string diary_;
};

}  // namespace

history run(const run_options& options) { return scene(options).play(); }

std::uint64_t seed_of_this_run() {
  const char* given = std::getenv("IDEM_FAULTS_SEED");
  const auto seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "again with: IDEM_FAULTS_SEED=" << seed << std::endl;
  return seed;
}

std::chrono::seconds length_of_this_run(std::chrono::seconds usual) {
  const char* given = std::getenv("IDEM_FAULTS_SECONDS");
  return given ? std::chrono::seconds(std::strtoll(given, nullptr, 10)) : usual;
}

}  // namespace idem::test
