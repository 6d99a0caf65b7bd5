// A strict reader of Prometheus' text format 0.0.4, for tests: it refuses what a scraper might let pass.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace idem::test {

struct metric_sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

struct metric_family {
  std::string name, type, help;
  std::vector<metric_sample> samples;
};

struct metrics_page {
  std::vector<std::string> faults;  ///< what is wrong, one line each; empty = a valid page
  std::map<std::string, metric_family> families;

  const metric_family* family(const std::string& name) const;
  /// The value of exactly this sample; NaN if there is none. `name` may end in _bucket, _sum or _count.
  double value(const std::string& name, const std::map<std::string, std::string>& labels = {}) const;
  bool has(const std::string& name, const std::map<std::string, std::string>& labels) const;
};

metrics_page read_metrics(std::string_view text);

}  // namespace idem::test
