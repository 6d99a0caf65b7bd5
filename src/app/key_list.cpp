#include "app/key_list.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "app/key_command.hpp"
#include "app/key_record.hpp"
#include "idem/store/names.hpp"
#include "idem/text/base64.hpp"
#include "idem/text/json.hpp"

namespace idem::app {

using idempotency::decode_result;
using idempotency::record_state;

namespace {

/// Records that are read in one pipeline: with the largest answers still some megabytes.
constexpr std::size_t most_at_once = 16;

std::string_view state_of(const seen_record& r) {
  if (r.decoded.result == decode_result::foreign) return "foreign";
  if (r.decoded.result == decode_result::damaged) return "damaged";
  if (r.lapsed()) return "unknown";
  switch (r.value().state) {
    case record_state::processing: return "processing";
    case record_state::unknown: return "unknown";
    case record_state::succeeded: return "succeeded";
    case record_state::failed_final: return "failed_final";
    case record_state::without_body: return "without_body";
    case record_state::revoked: return "revoked";
  }
  return "foreign";
}

/// As the log shows it, and --hash takes it.
std::string_view hash_of(std::string_view name) {
  const auto brace = name.rfind('{');
  return name.substr(brace + 1, name.size() - brace - 2);
}

// --------------------------------------------------------------------------------------------------------------- lines

void append_row(std::string& out, std::string_view name, const seen_record& r) {
  const bool known = r.decoded.result == decode_result::ok;
  const std::string expires = r.ttl >= 0 ? std::to_string(r.ttl / 1000) + " s" : "never";
  const std::string status = known && r.value().status != 0 ? std::to_string(r.value().status) : "-";
  const std::string attempt = known ? std::to_string(r.value().owner.attempt) : "-";
  const std::string seen = known ? first_seen(r.value()) : "-";
  char row[256];
  const int size =
      std::snprintf(row, sizeof row, "%-43s  %-12s  %7s  %6s  %-24s  %10s\n", std::string(hash_of(name)).c_str(),
                    std::string(state_of(r)).c_str(), attempt.c_str(), status.c_str(), seen.c_str(), expires.c_str());
  out.append(row, static_cast<std::size_t>(size));
}

constexpr std::string_view title =
    "KEY_HASH                                     STATE         ATTEMPT  STATUS  FIRST SEEN                EXPIRES "
    "IN\n";

void append_member(std::string& out, std::string_view name, std::string_view value) {
  out += ",\"";
  out += name;
  out += "\":";
  text::append_json_string_of_bytes(out, value);
}

void append_member(std::string& out, std::string_view name, std::int64_t value) {
  ((out += ",\"") += name) += "\":";
  out += std::to_string(value);
}

/// Header lines as text; the body, which may be anything, in base64.
void append_answer(std::string& out, const idempotency::record& r) {
  append_member(out, "reason", r.reason());
  out += ",\"headers\":[";
  std::string_view between;
  for (auto lines = r.header_lines(); !lines.empty();) {
    const auto end = std::min(lines.find("\r\n"), lines.size());
    text::append_json_string_of_bytes(out += between, lines.substr(0, end));
    lines.remove_prefix(std::min(end + 2, lines.size()));
    between = ",";
  }
  out += "],\"body_base64\":\"";
  const auto* bytes = reinterpret_cast<const unsigned char*>(r.body.data());
  text::append_base64(out, {bytes, r.body.size()}, text::base64_alphabet::standard);
  out += '"';
}

void append_object(std::string& out, std::string_view name, const seen_record& r, bool answers) {
  out += "{\"key_hash\":";
  text::append_json_string_of_bytes(out, hash_of(name));
  append_member(out, "state", state_of(r));
  if (r.ttl >= 0) append_member(out, "expires_in_ms", r.ttl);
  if (r.decoded.result == decode_result::ok) {
    const auto& v = r.value();
    if (r.lapsed()) out += ",\"lapsed\":true";
    append_member(out, "attempt", v.owner.attempt);
    append_member(out, "guarantee", v.guarantee == config::guarantee::at_most_once ? "at_most_once" : "at_least_once");
    append_member(out, "first_seen", first_seen(v));
    if (v.status != 0) append_member(out, "status", v.status);
    if (v.status != 0 && answers) append_answer(out, v);
  }
  out += "}\n";
}

// ---------------------------------------------------------------------------------------------------------------- list

class listing {
 public:
  listing(const config::store_config& store, const list_options& options) : store_(store), options_(options) {}

  /// False: fault() says why it cannot go on.
  bool take(std::span<const std::string> names);
  bool end();
  const std::string& fault() const { return fault_; }

 private:
  bool add(std::span<const std::string> names);
  void add(std::string_view name, store::reply&& found);
  bool write(std::string_view text);

  key_store store_;
  const list_options& options_;
  std::string lines_, fault_;
  bool titled_ = false;
  std::size_t all_ = 0, listed_ = 0;
};

bool listing::take(std::span<const std::string> names) {
  for (; !names.empty(); names = names.subspan(std::min(most_at_once, names.size()))) {
    if (!add(names.first(std::min(most_at_once, names.size())))) return false;
  }
  return true;
}

bool listing::add(std::span<const std::string> names) {
  auto found = store_.look_at(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    // large ones can take the time of all: alone once more
    if (found[i].what == store::verdict::unavailable) found[i] = std::move(store_.look_at(names.subspan(i, 1)).front());
    if (found[i].what == store::verdict::absent) continue;
    if (found[i].what != store::verdict::found) {
      fault_ = "the store does not answer";
      return false;
    }
    add(names[i], std::move(found[i]));
  }
  return write(std::exchange(lines_, {}));
}

void listing::add(std::string_view name, store::reply&& found) {
  ++all_;
  const auto record = decode_found(std::move(found));
  const auto& wanted = options_.states;
  if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), state_of(record)) == wanted.end()) return;
  ++listed_;
  if (options_.json) return append_object(lines_, name, record, options_.answers);
  if (!std::exchange(titled_, true)) lines_ += title;
  append_row(lines_, name, record);
}

bool listing::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return true;
  fault_ = "standard output takes no more";
  return false;
}

bool listing::end() {
  if (std::fflush(stdout) != 0) {
    fault_ = "standard output takes no more";
    return false;
  }
  std::fprintf(stderr, "%zu of %zu records\n", listed_, all_);
  return true;
}

}  // namespace

std::vector<std::string> listed_states() {
  return {"processing", "unknown", "succeeded", "failed_final", "without_body", "revoked", "damaged", "foreign"};
}

int list_keys(const config::store_config& store, const list_options& options) {
  listing list(store, options);
  auto why = store::each_record_name(store.redis, [&](std::span<const std::string> names) { return list.take(names); });
  if (why.empty()) why = list.fault();
  if (why.empty() && list.end()) return key_done;
  if (why.empty()) why = list.fault();
  return complain(key_failed, "the list is not whole: " + why);
}

}  // namespace idem::app
