#include "idem/telemetry/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "idem/telemetry/version.hpp"
#include "support/exposition.hpp"

namespace idem::telemetry {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto requests = "idempotency_proxy_requests_total";

test::metrics_page page_of(const registry& r) {
  auto page = test::read_metrics(r.text());
  EXPECT_THAT(page.faults, IsEmpty());
  return page;
}

TEST(decisions, every_one_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < decision_count; ++i) names.insert(name_of(static_cast<decision>(i)));
  EXPECT_EQ(names.size(), decision_count);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(registry, an_empty_one_is_a_valid_page) {
  registry r(2);
  const auto page = page_of(r);
  for (const auto& [name, family] : page.families) {
    EXPECT_TRUE(name.starts_with("idempotency_proxy_") || name.starts_with("process_")) << name;
  }
}

TEST(registry, a_known_route_shows_executed_and_replayed_before_any_request) {
  registry r(1);
  r.route(0, "charges");
  const auto page = page_of(r);
  EXPECT_EQ(page.value(requests, {{"route", "charges"}, {"decision", "executed"}}), 0);
  EXPECT_EQ(page.value(requests, {{"route", "charges"}, {"decision", "replayed"}}), 0);
  EXPECT_EQ(page.family(requests)->samples.size(), 2u);
}

TEST(registry, workers_are_added_up) {
  registry r(3);
  r.route(0, "a").count(decision::executed);
  r.route(2, "a").count(decision::executed);
  r.route(2, "a").count(decision::mismatch);
  r.route(1, "b").count(decision::replayed);
  r.route(0, "a").upstream.observe(std::chrono::milliseconds(20));
  r.route(2, "a").upstream.observe(std::chrono::milliseconds(40));
  r.worker(0).in_flight = 5;
  r.worker(2).in_flight = 2;
  r.worker(1).store_claim.observe(std::chrono::milliseconds(1));
  r.worker(2).renewals = 4;
  const auto page = page_of(r);
  EXPECT_EQ(page.value(requests, {{"route", "a"}, {"decision", "executed"}}), 2);
  EXPECT_EQ(page.value(requests, {{"route", "a"}, {"decision", "mismatch"}}), 1);
  EXPECT_EQ(page.value(requests, {{"route", "b"}, {"decision", "executed"}}), 0);
  EXPECT_EQ(page.value(requests, {{"route", "b"}, {"decision", "replayed"}}), 1);
  EXPECT_EQ(page.value("idempotency_proxy_upstream_seconds_count", {{"route", "a"}}), 2);
  EXPECT_NEAR(page.value("idempotency_proxy_upstream_seconds_sum", {{"route", "a"}}), 0.06, 1e-9);
  EXPECT_EQ(page.value("idempotency_proxy_in_flight"), 7);
  EXPECT_EQ(page.value("idempotency_proxy_store_seconds_count", {{"op", "claim"}}), 1);
  EXPECT_EQ(page.value("idempotency_proxy_store_seconds_count", {{"op", "complete"}}), 0);
  EXPECT_EQ(page.value("idempotency_proxy_lease_renewals_total"), 4);
}

TEST(registry, requests_without_a_route_have_a_label_that_no_route_can_have) {
  registry r(1);
  r.route(0, "").count(decision::passed);
  const auto page = page_of(r);
  ASSERT_EQ(page.family(requests)->samples.size(), 1u);
  EXPECT_EQ(page.value(requests, {{"route", "_none"}, {"decision", "passed"}}), 1);
}

TEST(registry, requests_without_a_route_have_no_latency_since_nothing_of_theirs_is_claimed) {
  registry r(1);
  r.route(0, "").count(decision::passed);
  r.route(0, "a").count(decision::passed);
  const auto page = page_of(r);
  for (const auto& sample : page.family("idempotency_proxy_upstream_seconds")->samples) {
    EXPECT_EQ(sample.labels.at("route"), "a");
  }
}

TEST(registry, a_block_stays_where_it_is) {
  registry r(2);
  route_block* const first = &r.route(1, "a");
  for (int i = 0; i < 100; ++i) r.route(1, "other-" + std::to_string(i));
  EXPECT_EQ(&r.route(1, "a"), first);
  EXPECT_NE(&r.route(0, "a"), first);
}

TEST(registry, the_store_is_up_when_every_worker_reaches_it) {
  registry r(2);
  EXPECT_EQ(page_of(r).value("idempotency_proxy_store_up"), 0);
  r.worker(0).store_up = 1;
  EXPECT_EQ(page_of(r).value("idempotency_proxy_store_up"), 0);
  r.worker(1).store_up = 1;
  EXPECT_EQ(page_of(r).value("idempotency_proxy_store_up"), 1);
}

TEST(registry, reloads_and_draining_are_shown) {
  registry r(1);
  EXPECT_EQ(page_of(r).value("idempotency_proxy_config_last_reload_success"), 1);
  r.reload(true);
  r.reload(false);
  r.draining(true);
  EXPECT_TRUE(r.draining());
  const auto page = page_of(r);
  EXPECT_EQ(page.value("idempotency_proxy_config_reloads_total", {{"result", "success"}}), 1);
  EXPECT_EQ(page.value("idempotency_proxy_config_reloads_total", {{"result", "failure"}}), 1);
  EXPECT_EQ(page.value("idempotency_proxy_config_last_reload_success"), 0);
  EXPECT_EQ(page.value("idempotency_proxy_draining"), 1);
}

TEST(registry, the_process_describes_itself) {
  registry r(1);
  const auto page = page_of(r);
  const auto now = static_cast<double>(::time(nullptr));
  EXPECT_LE(page.value("process_start_time_seconds"), now + 1);
  EXPECT_GE(page.value("process_start_time_seconds"), now - 3600);
  EXPECT_GE(page.value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GE(page.value("process_open_fds"), 3);
  EXPECT_GT(page.value("process_max_fds"), page.value("process_open_fds"));
  EXPECT_GT(page.value("process_cpu_seconds_total"), 0);
  EXPECT_EQ(page.value("idempotency_proxy_build_info", {{"version", std::string(version)}}), 1);
}

TEST(version, is_the_projects) {
  std::ifstream file(IDEM_SOURCE_DIR "/CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("project(idempotency-proxy VERSION " + std::string(version) + " "));
}

TEST(registry, threads_may_count_ask_for_routes_and_scrape_at_once) {
  constexpr unsigned workers = 4, rounds = 300;
  registry r(workers);
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < workers; ++w) {
    threads.emplace_back([&r, w] {
      for (unsigned i = 0; i < rounds; ++i) {
        auto& block = r.route(w, "route-" + std::to_string(i % 7));
        block.count(decision::executed);
        block.upstream.observe(std::chrono::microseconds(i));
        r.worker(w).accepted.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_THAT(test::read_metrics(r.text()).faults, IsEmpty());
  for (auto& t : threads) t.join();
  const auto page = page_of(r);
  double total = 0;
  for (const auto& s : page.family(requests)->samples) total += s.value;
  EXPECT_EQ(total, workers * rounds);
  EXPECT_EQ(page.value("idempotency_proxy_accepted_total"), workers * rounds);
}

}  // namespace
}  // namespace idem::telemetry
