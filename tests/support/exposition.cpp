#include "support/exposition.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace idem::test {
namespace {

bool is_name(std::string_view s, bool colon) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  for (char c : s) {
    const bool ok =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (colon && c == ':');
    if (!ok) return false;
  }
  return true;
}

std::optional<double> number(std::string_view s) {
  if (s == "+Inf") return std::numeric_limits<double>::infinity();
  if (s == "-Inf") return -std::numeric_limits<double>::infinity();
  if (s == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (s.empty() || s.find_first_not_of("0123456789+-.e") != std::string_view::npos) return {};
  const std::string copy(s);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size()) return {};
  return value;
}

std::string chars_until_quote(std::string_view& s, bool& ok) {
  std::string value;
  while (!s.empty() && s[0] != '"') {
    char c = s[0];
    s.remove_prefix(1);
    if (c == '\\') {
      if (s.empty() || (s[0] != '\\' && s[0] != '"' && s[0] != 'n')) {
        ok = false;
        return value;
      }
      c = s[0] == 'n' ? '\n' : s[0];
      s.remove_prefix(1);
    }
    value += c;
  }
  ok = !s.empty();
  if (ok) s.remove_prefix(1);
  return value;
}

/// `{a="b",c="d"}`, without a trailing comma or blanks; consumed from s.
bool read_labels(std::string_view& s, std::map<std::string, std::string>& labels) {
  s.remove_prefix(1);
  for (;;) {
    const auto equals = s.find("=\"");
    if (equals == std::string_view::npos || !is_name(s.substr(0, equals), false)) return false;
    const std::string name(s.substr(0, equals));
    s.remove_prefix(equals + 2);
    bool ok = true;
    auto value = chars_until_quote(s, ok);
    if (!ok || !labels.emplace(name, std::move(value)).second || s.empty()) return false;
    const char next = s[0];
    s.remove_prefix(1);
    if (next == '}') return true;
    if (next != ',') return false;
  }
}

std::optional<metric_sample> read_sample(std::string_view line) {
  metric_sample sample;
  const auto name_end = line.find_first_of("{ ");
  if (name_end == std::string_view::npos || !is_name(line.substr(0, name_end), true)) return {};
  sample.name = line.substr(0, name_end);
  line.remove_prefix(name_end);
  if (line[0] == '{' && !read_labels(line, sample.labels)) return {};
  if (line.empty() || line[0] != ' ') return {};
  const auto value = number(line.substr(1));
  if (!value) return {};
  sample.value = *value;
  return sample;
}

bool belongs(const metric_sample& s, const metric_family& f) {
  if (f.type != "histogram") return s.name == f.name && !s.labels.contains("le");
  if (s.name == f.name + "_bucket") return s.labels.contains("le");
  return (s.name == f.name + "_sum" || s.name == f.name + "_count") && !s.labels.contains("le");
}

class page_reader {
 public:
  metrics_page read(std::string_view text) {
    if (text.empty() || text.back() != '\n') fault("the page does not end with a line feed", "");
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (const auto& [name, f] : page_.families) check(f);
    return std::move(page_);
  }

 private:
  void fault(const std::string& what, std::string_view where) {
    page_.faults.push_back(what + (where.empty() ? "" : ": " + std::string(where)));
  }

  void line(std::string_view text) {
    if (text.starts_with("# HELP ")) return help(text.substr(7));
    if (text.starts_with("# TYPE ")) return type(text.substr(7));
    auto sample = read_sample(text);
    if (!sample) return fault("neither HELP, TYPE nor a sample", text);
    if (!current_ || current_->type.empty()) return fault("a sample before its HELP and TYPE", text);
    if (!belongs(*sample, *current_)) return fault("a sample of another family than " + current_->name, text);
    if (!seen_.emplace(sample->name, sample->labels).second) fault("the same sample twice", text);
    current_->samples.push_back(std::move(*sample));
  }

  void help(std::string_view text) {
    const auto blank = std::min(text.find(' '), text.size());
    const std::string name(text.substr(0, blank));
    if (!is_name(name, true)) return fault("not a name", text);
    auto [at, fresh] = page_.families.try_emplace(name);
    if (!fresh) return fault("HELP twice", name);
    current_ = &at->second;
    current_->name = name;
    current_->help = text.substr(std::min(blank + 1, text.size()));
    if (current_->help.empty()) fault("HELP says nothing", name);
  }

  void type(std::string_view text) {
    const auto blank = std::min(text.find(' '), text.size());
    if (!current_ || current_->name != text.substr(0, blank)) return fault("TYPE without its HELP before it", text);
    if (!current_->type.empty()) return fault("TYPE twice", text);
    current_->type = text.substr(std::min(blank + 1, text.size()));
    static const std::set<std::string> known = {"counter", "gauge", "histogram"};
    if (!known.contains(current_->type)) fault("not a type", text);
  }

  void check(const metric_family& f) {
    if (f.type.empty()) fault("no TYPE", f.name);
    const bool total = f.name.ends_with("_total");
    if ((f.type == "counter") != total) fault("counters, and only they, end in _total", f.name);
    for (const auto& s : f.samples) {
      if (f.type == "counter" && !(s.value >= 0)) fault("a counter below zero", f.name);
    }
    if (f.type == "histogram") check_histogram(f);
  }

  void check_histogram(const metric_family& f) {
    struct series {
      std::vector<std::pair<double, double>> buckets;
      std::optional<double> sum, count;
    };
    std::map<std::map<std::string, std::string>, series> all;
    for (const auto& s : f.samples) {
      auto labels = s.labels;
      labels.erase("le");
      auto& one = all[labels];
      if (s.name.ends_with("_bucket")) one.buckets.emplace_back(number(s.labels.at("le")).value_or(NAN), s.value);
      if (s.name.ends_with("_sum")) one.sum = s.value;
      if (s.name.ends_with("_count")) one.count = s.value;
    }
    for (const auto& [labels, one] : all) {
      if (!one.sum || !one.count || one.buckets.empty()) {
        fault("a histogram without buckets, sum or count", f.name);
        continue;
      }
      for (std::size_t i = 1; i < one.buckets.size(); ++i) {
        if (!(one.buckets[i].first > one.buckets[i - 1].first)) fault("bounds do not rise", f.name);
        if (one.buckets[i].second < one.buckets[i - 1].second) fault("buckets are not cumulative", f.name);
      }
      if (!std::isinf(one.buckets.back().first)) fault("no +Inf bucket at the end", f.name);
      if (one.buckets.back().second != *one.count) fault("the +Inf bucket is not the count", f.name);
    }
  }

  metrics_page page_;
  metric_family* current_ = nullptr;
  std::set<std::pair<std::string, std::map<std::string, std::string>>> seen_;
};

}  // namespace

const metric_family* metrics_page::family(const std::string& name) const {
  auto found = families.find(name);
  return found == families.end() ? nullptr : &found->second;
}

double metrics_page::value(const std::string& name, const std::map<std::string, std::string>& labels) const {
  for (const auto& [family_name, f] : families) {
    for (const auto& s : f.samples) {
      if (s.name == name && s.labels == labels) return s.value;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool metrics_page::has(const std::string& name, const std::map<std::string, std::string>& labels) const {
  return !std::isnan(value(name, labels));
}

metrics_page read_metrics(std::string_view text) { return page_reader().read(text); }

}  // namespace idem::test
