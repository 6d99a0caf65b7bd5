// Counters and lines of the access log.
#include <memory>

#include "idem/telemetry/metrics.hpp"
#include "operation.hpp"
#include "samples.hpp"
#include "telemetry/log_line.hpp"

namespace idem::bench {
namespace {

using namespace telemetry;

action count_request() {
  auto all = std::make_shared<registry>(1);
  auto* route = &all->route(0, "charges");
  auto* worker = &all->worker(0);
  return [all, route, worker] {
    worker->in_flight.fetch_add(1, std::memory_order_relaxed);
    route->count(decision::executed);
    route->upstream.observe(std::chrono::microseconds(3200));
    worker->store_claim.observe(std::chrono::microseconds(180));
    worker->in_flight.fetch_sub(1, std::memory_order_relaxed);
  };
}

action scrape() {
  auto all = std::make_shared<registry>(2);
  for (const auto* name : {"", "charges", "refunds", "orders"})
    for (unsigned w = 0; w < 2; ++w) all->route(w, name).count(decision::replayed);
  return [all] {
    auto text = all->text();
    keep(text);
  };
}

access_entry sample() {
  access_entry e;
  e.at = std::chrono::system_clock::time_point(std::chrono::seconds(1764417600));
  e.method = "POST";
  e.route = "charges";
  e.key_hash = "q1w2e3r4t5y6u7i8o9p0q1w2e3r4t5y6u7i8o9p0q1w";
  e.client = "203.0.113.7";
  e.what = decision::executed;
  e.status = 201;
  e.attempt = 1;
  e.bytes_in = 300;
  e.bytes_out = 150;
  e.total = std::chrono::microseconds(3456);
  e.upstream = std::chrono::microseconds(3200);
  e.store = std::chrono::microseconds(180);
  return e;
}

action write_line(config::log_format format) {
  return [format, entry = sample(), out = std::string()]() mutable {
    out.clear();
    append_line(out, entry, format);
    keep(out);
  };
}

const listed all[] = {
    {"metrics/request", count_request},
    {"metrics/scrape", scrape},
    {"log/access_json", [] { return write_line(config::log_format::json); }},
    {"log/access_text", [] { return write_line(config::log_format::text); }},
};

}  // namespace
}  // namespace idem::bench
