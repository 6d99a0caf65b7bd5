#include "idem/config/show.hpp"

#include <cstdio>

#include "config/units.hpp"
#include "config/words.hpp"
#include "idem/text/hex.hpp"

namespace idem::config {
namespace {

using std::string;
using std::string_view;

/// A double-quoted scalar (YAML 1.2 §7.3.1), which may stand anywhere.
string quote(string_view text) {
  string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (text::is_control(c)) {
      out += "\\x";
      text::append_hex(out, c);
    } else {
      out += c;
    }
  }
  return out + '"';
}

template <class List, class Show>
string flow(const List& list, Show show) {
  string out = "[";
  for (const auto& item : list) (out += out.size() > 1 ? ", " : "") += show(item);
  return out + "]";
}
string quoted_list(const std::vector<string>& list) { return flow(list, quote); }
string quoted_sources(const std::vector<source>& list) {
  return flow(list, [](const source& s) { return quote(s.text); });
}

string_view flag(bool on) { return on ? "true" : "false"; }

string_view shown_absent(absent_policy p) {
  return p == absent_policy::if_repeated ? flag(true) : word_of(p, absent_words);
}

/// Lines of a block, indented to where they stand.
class lines {
 public:
  explicit lines(string& out, int indent) : out_(out), indent_(static_cast<std::size_t>(indent), ' ') {}
  void add(string_view key, string_view value) { ((((out_ += indent_) += key) += ": ") += value) += '\n'; }
  void open(string_view key) { ((out_ += indent_) += key) += ":\n"; }

 private:
  string& out_;
  string indent_;
};

string statuses(const status_overrides& s, disposition which) {
  std::vector<string> all;
  for (const auto& [code, d] : s.codes) {
    if (d == which) all.push_back(std::to_string(code));
  }
  for (const auto& [digit, d] : s.classes) {
    if (d == which) all.push_back(std::to_string(digit) + "xx");
  }
  return flow(all, [](const string& t) { return t; });
}

string statuses(const status_set& s) {
  std::vector<string> all;
  for (const unsigned code : s.codes) all.push_back(std::to_string(code));
  for (const unsigned digit : s.classes) all.push_back(std::to_string(digit) + "xx");
  return flow(all, [](const string& t) { return t; });
}

void show_match(string& out, const route_match& m) {
  using kind = route_match::path_kind;
  lines l(out, 6);
  out += "    match:\n";
  if (m.kind == kind::exact || m.kind == kind::templated) l.add("path", quote(m.path));
  if (m.kind == kind::prefix) l.add("prefix", quote(m.path));
  l.add("methods", quoted_list(m.methods));
  l.add("host", quote(m.host));
}

void show_identity(string& out, const idempotency_config& c) {
  lines block(out, 6), l(out, 8);
  block.open("key");
  l.add("from", flow(c.key.from, [](const std::vector<source>& parts) {
          return parts.size() == 1 ? quote(parts[0].text) : quoted_sources(parts);
        }));
  l.add("required", flag(c.key.required));
  l.add("max_length", std::to_string(c.key.max_length));
  l.add("format", c.key.uuid ? "uuid" : "any");
  l.add("strict", flag(c.key.strict));
  l.add("fingerprint_ttl", show_duration(c.key.fingerprint_ttl));
  block.add("scope", quoted_sources(c.scope));
  block.open("fingerprint");
  l.add("body", word_of(c.fingerprint.body, body_words));
  l.add("headers", quoted_list(c.fingerprint.headers));
  l.add("query", flag(c.fingerprint.query));
  l.add("exclude", quoted_list(c.fingerprint.exclude));
  l.add("include", quoted_list(c.fingerprint.include));
}

void show_outcome(string& out, const idempotency_config& c) {
  lines block(out, 6), l(out, 8);
  block.add("guarantee", word_of(c.guarantee, guarantee_words));
  block.open("statuses");
  l.add("final", statuses(c.statuses, disposition::final));
  l.add("release", statuses(c.statuses, disposition::release));
  l.add("unknown", statuses(c.statuses, disposition::unknown));
  const auto& body = c.success.body;
  const string prefix = body.type == body_condition::kind::json ? "json:" : "xml:";
  const bool condition = body.type == body_condition::kind::json || body.type == body_condition::kind::xml;
  block.open("answer");
  l.open("success");
  lines s(out, 10);
  s.add("statuses", statuses(c.success.statuses));
  s.add("body_equals", quote(body.type == body_condition::kind::equals ? body.expected : ""));
  s.add("body", quote(condition ? prefix + body.path + " == " + body.expected : ""));
  block.add("absent_is_success", shown_absent(c.absent_is_success));
}

void show_verification(string& out, const idempotency_config& c) {
  lines block(out, 6), l(out, 8);
  block.open("jwt");
  if (!c.jwt.jwks_file.empty()) l.add("jwks_file", quote(c.jwt.jwks_file));
  if (!c.jwt.hmac_secret_file.empty()) l.add("hmac_secret_file", quote(c.jwt.hmac_secret_file));
  l.add("issuer", quote(c.jwt.issuer));
  l.add("audience", quote(c.jwt.audience));
  l.add("leeway", show_duration(c.jwt.leeway));
  block.open("signature");
  // a scheme alone, as presets have it, verifies nothing and may not be written
  l.add("scheme", c.signature.secret_file.empty() ? "\"\"" : word_of(c.signature.scheme, scheme_words));
  l.add("secret_file", quote(c.signature.secret_file));
  l.add("tolerance", show_duration(c.signature.tolerance));
}

void show_cors(string& out, const idempotency_config& c) {
  lines(out, 6).open("cors");
  lines l(out, 8);
  l.add("origins", quoted_list(c.cors.origins));
  l.add("credentials", flag(c.cors.credentials));
}

void show_times_and_limits(string& out, const idempotency_config& c) {
  lines block(out, 6), l(out, 8);
  block.add("lease", show_duration(c.lease));
  block.add("max_processing", show_duration(c.max_processing));
  block.add("retention", show_duration(c.retention));
  block.add("hold", show_duration(c.hold));
  block.open("in_flight");
  l.add("respond", word_of(c.in_flight.respond, respond_words));
  l.add("wait", show_duration(c.in_flight.wait));
  l.add("max_waiters", std::to_string(c.in_flight.max_waiters));
  block.add("mismatch_status", std::to_string(c.mismatch_status));
  block.add("max_request_body", show_size(c.max_request_body));
  block.add("max_stored_body", show_size(c.max_stored_body));
  block.add("oversize", word_of(c.oversize, oversize_words));
  block.open("replay_headers");
  l.add("drop", quoted_list(c.replay_drop));
  block.add("on_store_error", word_of(c.on_store_error, store_error_words));
  block.add("attempt_header", flag(c.attempt_header));
}

}  // namespace

std::string show_routes(const snapshot& config) {
  string out = "routes:\n";
  for (const route& r : config.routes) {
    const idempotency_config& c = r.idempotency;
    out += "  - name: " + r.name + "\n";
    show_match(out, r.match);
    out += "    response_timeout: " + show_duration(r.response_timeout) + "\n    idempotency:\n";
    if (!c.preset.empty()) {
      out += "      # preset: " + c.preset;
      if (c.sender_tries > 0ms) out += ", which tries for " + show_duration(c.sender_tries);
      if (c.sender_waits > 0ms) out += " and waits " + show_duration(c.sender_waits) + " for an answer";
      if (!c.signature.enabled()) out += "; its signature is not verified here";
      out += '\n';
    }
    lines block(out, 6);
    block.add("namespace", quote(c.name_space));
    block.add("mode", word_of(c.mode, mode_words));
    show_identity(out, c);
    show_outcome(out, c);
    show_times_and_limits(out, c);
    show_verification(out, c);
    show_cors(out, c);
  }
  return out;
}

std::string show_times(const idempotency_config& route) {
  string out = "lease " + show_duration(route.lease) + ", retention " + show_duration(route.retention) + ", hold " +
               show_duration(route.hold);
  for (const auto& parts : route.key.from) {
    for (const source& s : parts) {
      if (s.type != source::kind::fingerprint) continue;
      return out + ", by fingerprint " + show_duration(route.key.fingerprint_ttl);
    }
  }
  return out;
}

store_size estimate(const idempotency_config& route, double per_second) {
  const auto longest = route.retention > route.hold ? route.retention : route.hold;
  const double records = per_second * std::chrono::duration<double>(longest).count();
  store_size s;
  s.records = static_cast<std::uint64_t>(records);
  const auto bytes = [&](std::size_t answer) {
    return static_cast<std::uint64_t>(records * static_cast<double>(record_overhead + answer));
  };
  s.typical = bytes(route.max_stored_body < typical_answer ? route.max_stored_body : typical_answer);
  s.largest = bytes(route.max_stored_body);
  return s;
}

std::string show_bytes(std::uint64_t bytes) {
  constexpr string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f " : "%.1f ", value);
  return text + string(units[unit]);
}

}  // namespace idem::config
