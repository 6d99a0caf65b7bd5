#include "telemetry/exposition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/exposition.hpp"

namespace idem::telemetry {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using kind = exposition::kind;

TEST(exposition, a_family_has_help_and_type_before_its_samples) {
  exposition out;
  out.family("things_total", kind::counter, "Things.");
  out.sample({}, std::uint64_t{7});
  EXPECT_EQ(out.take(), "# HELP things_total Things.\n# TYPE things_total counter\nthings_total 7\n");
}

TEST(exposition, label_values_are_escaped) {
  exposition out;
  out.family("x", kind::gauge, "A back\\slash and a\nline.");
  out.sample({{"a", "q\"b\\n\nz"}}, std::int64_t{-3});
  const auto text = out.take();
  EXPECT_EQ(text, "# HELP x A back\\\\slash and a\\nline.\n# TYPE x gauge\nx{a=\"q\\\"b\\\\n\\nz\"} -3\n");
  EXPECT_EQ(test::read_metrics(text).value("x", {{"a", "q\"b\\n\nz"}}), -3);
}

TEST(exposition, numbers_that_are_not_finite_have_their_own_words) {
  exposition out;
  out.family("x", kind::gauge, "X.");
  out.sample({{"a", "1"}}, std::nan(""));
  out.sample({{"a", "2"}}, HUGE_VAL);
  out.sample({{"a", "3"}}, -HUGE_VAL);
  EXPECT_THAT(out.take(), HasSubstr("x{a=\"1\"} NaN\nx{a=\"2\"} +Inf\nx{a=\"3\"} -Inf\n"));
}

TEST(exposition, a_histogram_is_cumulative_and_in_seconds) {
  histogram h;
  h.observe(std::chrono::microseconds(400));
  h.observe(std::chrono::microseconds(500));  // a bound belongs to its bucket
  h.observe(std::chrono::milliseconds(3));
  h.observe(std::chrono::seconds(61));
  h.observe(std::chrono::seconds(-1));  // a clock's mistake counts as nothing
  histogram_sums sums;
  sums.add(h);
  sums.add(h);
  exposition out;
  out.family("t_seconds", kind::histogram, "T.");
  out.sample({{"op", "x"}}, sums);
  const auto page = test::read_metrics(out.take());
  EXPECT_THAT(page.faults, IsEmpty());
  EXPECT_EQ(page.value("t_seconds_bucket", {{"op", "x"}, {"le", "0.0005"}}), 6);
  EXPECT_EQ(page.value("t_seconds_bucket", {{"op", "x"}, {"le", "0.0025"}}), 6);
  EXPECT_EQ(page.value("t_seconds_bucket", {{"op", "x"}, {"le", "0.005"}}), 8);
  EXPECT_EQ(page.value("t_seconds_bucket", {{"op", "x"}, {"le", "60"}}), 8);
  EXPECT_EQ(page.value("t_seconds_bucket", {{"op", "x"}, {"le", "+Inf"}}), 10);
  EXPECT_EQ(page.value("t_seconds_count", {{"op", "x"}}), 10);
  EXPECT_NEAR(page.value("t_seconds_sum", {{"op", "x"}}), 2 * 61.0039, 1e-9);
}

// The reader that other tests trust has to see faults.
TEST(metrics_reader, faults_are_found) {
  const char* const bad[] = {
      "",
      "x 1\n",
      "# HELP x X.\n# TYPE x gauge\nx 1",
      "# HELP x X.\nx 1\n",
      "# TYPE x gauge\nx 1\n",
      "# HELP x X.\n# TYPE x gauge\nx 1\nx 1\n",
      "# HELP x X.\n# TYPE x gauge\nx 1\n# HELP x X.\n# TYPE x gauge\nx{a=\"b\"} 1\n",
      "# HELP x X.\n# TYPE x gauge\ny 1\n",
      "# HELP x X.\n# TYPE x gauge\nx{a=\"\\x\"} 1\n",
      "# HELP x X.\n# TYPE x gauge\nx{a=b} 1\n",
      "# HELP x X.\n# TYPE x gauge\nx  1\n",
      "# HELP x X.\n# TYPE x gauge\n\nx 1\n",
      "# HELP x X.\n# TYPE x counter\nx 1\n",
      "# HELP x_total X.\n# TYPE x_total counter\nx_total -1\n",
      "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
      "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_sum 1\nh_count 2\n",
      "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_sum 1\nh_count 3\n",
  };
  for (const char* text : bad) EXPECT_THAT(test::read_metrics(text).faults, Not(IsEmpty())) << text;
}

}  // namespace
}  // namespace idem::telemetry
