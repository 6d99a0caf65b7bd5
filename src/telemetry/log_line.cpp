#include "telemetry/log_line.hpp"

#include <algorithm>
#include <cstdio>

#include "idem/text/ascii.hpp"
#include "idem/text/decimal.hpp"
#include "idem/text/json.hpp"
#include "idem/text/rfc3339.hpp"

namespace idem::telemetry {
namespace {

void append_time(std::string& out, std::chrono::system_clock::time_point at) {
  text::append_rfc3339(out, std::chrono::floor<std::chrono::milliseconds>(at).time_since_epoch().count());
}

std::string_view name_of(config::log_level level) {
  switch (level) {
    case config::log_level::debug: return "debug";
    case config::log_level::info: return "info";
    case config::log_level::warn: return "warn";
    case config::log_level::error: return "error";
  }
  return "info";
}

/// In the text format a value stands bare as long as that cannot be misread; else as in JSON.
bool stands_bare(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(),
                                       [](char c) { return text::is_visible(c) && c != '"' && c != '=' && c != '\\'; });
}

class line {
 public:
  line(std::string& out, config::log_format format) : out_(out), json_(format == config::log_format::json) {}

  void head(std::chrono::system_clock::time_point at, config::log_level level, std::string_view event) {
    out_ += json_ ? "{\"ts\":\"" : "";
    append_time(out_, at);
    out_ += json_ ? "\",\"level\":\"" : " ";
    out_ += name_of(level);
    if (json_) {
      out_ += "\",\"event\":";
      text::append_json_string_of_bytes(out_, event);
    } else {
      out_ += ' ';
      text_value(event, false);
    }
  }

  void field(std::string_view name, std::string_view value) {
    begin(name);
    json_ ? text::append_json_string_of_bytes(out_, value) : text_value(value, true);
  }
  void field(std::string_view name, std::int64_t value) {
    begin(name);
    out_ += text::decimal(value);
  }
  void field(std::string_view name, double value) {
    begin(name);
    text::append_json_number(out_, value);
  }
  void field(std::string_view name, bool value) {
    begin(name);
    out_ += value ? "true" : "false";
  }
  /// In milliseconds with three decimals, so that columns of a text line stay comparable.
  void field(std::string_view name, std::chrono::microseconds value) {
    begin(name);
    const auto us = std::max<std::int64_t>(value.count(), 0);
    out_ += text::decimal(us / 1000);
    char fraction[8];
    std::snprintf(fraction, sizeof fraction, ".%03d", static_cast<int>(us % 1000));
    out_ += fraction;
  }

  void end() {
    if (json_) out_ += '}';
  }

 private:
  void begin(std::string_view name) {
    if (json_) {
      out_ += ',';
      text::append_json_string_of_bytes(out_, name);
      out_ += ':';
    } else {
      out_ += ' ';
      out_ += name;
      out_ += '=';
    }
  }
  void text_value(std::string_view value, bool quote) {
    if (stands_bare(value)) {
      out_ += value;
      return;
    }
    const auto start = out_.size();
    text::append_json_string_of_bytes(out_, value);
    if (quote) return;
    out_.erase(start, 1);
    out_.pop_back();
  }

  std::string& out_;
  const bool json_;
};

event_entry::value owned(const log_value& v) {
  if (const auto* text = std::get_if<std::string_view>(&v)) return std::string(*text);
  if (const auto* number = std::get_if<std::int64_t>(&v)) return *number;
  if (const auto* number = std::get_if<double>(&v)) return *number;
  return std::get<bool>(v);
}

}  // namespace

event_entry::event_entry(config::log_level at_level, std::string_view what, log_fields with)
    : at(std::chrono::system_clock::now()), level(at_level), event(what) {
  fields.reserve(with.size());
  for (const auto& [name, v] : with) fields.emplace_back(name, owned(v));
}

void append_line(std::string& out, const event_entry& e, config::log_format format) {
  line to(out, format);
  to.head(e.at, e.level, e.event);
  for (const auto& [name, v] : e.fields) {
    std::visit([&, &n = name](const auto& x) { to.field(n, x); }, v);
  }
  to.end();
}

void append_line(std::string& out, const access_entry& e, config::log_format format) {
  line to(out, format);
  to.head(e.at, config::log_level::info, "request");
  to.field("method", e.method);
  if (!e.route.empty()) {
    to.field("route", e.route);
  } else {
    to.field("path", e.path);
  }
  to.field("decision", telemetry::name_of(e.what));
  to.field("status", std::int64_t{e.status});
  if (!e.key_hash.empty()) to.field("key_hash", e.key_hash);
  if (e.attempt != 0) to.field("attempt", std::int64_t{e.attempt});
  if (!e.client.empty()) to.field("client", e.client);
  to.field("bytes_in", static_cast<std::int64_t>(e.bytes_in));
  to.field("bytes_out", static_cast<std::int64_t>(e.bytes_out));
  to.field("total_ms", e.total);
  to.field("upstream_ms", e.upstream);
  to.field("store_ms", e.store);
  if (!e.fault.empty()) to.field("fault", e.fault);
  if (!e.reason.empty()) to.field("reason", e.reason);
  to.end();
}

}  // namespace idem::telemetry
