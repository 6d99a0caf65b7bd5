// Writes Prometheus' text format 0.0.4. Families must be written whole, one after the other: the format wants the
// samples of one name together, below one HELP and one TYPE line.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "idem/telemetry/metrics.hpp"

namespace idem::telemetry {

using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// A histogram's numbers as they were at one moment, of one worker or added up over several.
struct histogram_sums {
  std::array<std::uint64_t, histogram::bounds.size() + 1> counts{};  ///< not cumulative
  std::uint64_t sum_ns = 0;

  void add(const histogram& h);
};

class exposition {
 public:
  enum class kind { counter, gauge, histogram };

  /// Begins a family; the samples that follow are its own.
  void family(std::string_view name, kind type, std::string_view help);
  void sample(labels with, std::uint64_t value);
  void sample(labels with, std::int64_t value);
  void sample(labels with, double value);
  /// Cumulative buckets, sum in seconds and count.
  void sample(labels with, const histogram_sums& h);

  std::string take() { return std::move(out_); }

 private:
  void begin(std::string_view suffix, labels with, std::string_view le = {});

  std::string name_;
  std::string out_;
};

}  // namespace idem::telemetry
