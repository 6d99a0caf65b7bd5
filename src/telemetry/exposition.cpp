#include "telemetry/exposition.hpp"

#include <charconv>
#include <cmath>

namespace idem::telemetry {
namespace {

void append_escaped(std::string& out, std::string_view value, bool quotes) {
  for (char c : value) {
    switch (c) {
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '"': out += quotes ? "\\\"" : "\""; break;
      default: out += c;
    }
  }
}

template <class T>
void append_number(std::string& out, T value) {
  char digits[32];
  auto [end, ec] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

std::string_view type_of(exposition::kind type) {
  switch (type) {
    case exposition::kind::counter: return "counter";
    case exposition::kind::gauge: return "gauge";
    case exposition::kind::histogram: return "histogram";
  }
  return "untyped";
}

}  // namespace

void histogram_sums::add(const histogram& h) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += h.counts[i].load(std::memory_order_relaxed);
  sum_ns += h.sum_ns.load(std::memory_order_relaxed);
}

void exposition::family(std::string_view name, kind type, std::string_view help) {
  name_ = name;
  out_.append("# HELP ").append(name).append(" ");
  append_escaped(out_, help, false);
  out_.append("\n# TYPE ").append(name).append(" ").append(type_of(type)).append("\n");
}

void exposition::begin(std::string_view suffix, labels with, std::string_view le) {
  out_.append(name_).append(suffix);
  char before = '{';
  auto label = [&](std::string_view name, std::string_view value) {
    out_ += before;
    before = ',';
    out_.append(name).append("=\"");
    append_escaped(out_, value, true);
    out_ += '"';
  };
  for (const auto& [name, value] : with) label(name, value);
  if (!le.empty()) label("le", le);
  out_ += before == ',' ? "} " : " ";
}

void exposition::sample(labels with, std::uint64_t value) {
  begin({}, with);
  append_number(out_, value);
  out_ += '\n';
}

void exposition::sample(labels with, std::int64_t value) {
  begin({}, with);
  append_number(out_, value);
  out_ += '\n';
}

void exposition::sample(labels with, double value) {
  begin({}, with);
  if (std::isfinite(value)) {
    append_number(out_, value);
  } else {
    out_ += std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  }
  out_ += '\n';
}

void exposition::sample(labels with, const histogram_sums& h) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < h.counts.size(); ++i) {
    total += h.counts[i];
    if (i < histogram::bounds.size()) {
      char bound[32];
      auto [end, ec] = std::to_chars(bound, bound + sizeof bound, histogram::bounds[i], std::chars_format::fixed);
      begin("_bucket", with, {bound, static_cast<std::size_t>(end - bound)});
    } else {
      begin("_bucket", with, "+Inf");
    }
    append_number(out_, total);
    out_ += '\n';
  }
  begin("_sum", with);
  append_number(out_, static_cast<double>(h.sum_ns) / 1e9);
  out_ += '\n';
  begin("_count", with);
  append_number(out_, total);
  out_ += '\n';
}

}  // namespace idem::telemetry
