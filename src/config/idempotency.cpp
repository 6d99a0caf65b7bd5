// The block `idempotency` of a route, which is the block `defaults` as well.
#include <algorithm>

#include "config/draft.hpp"
#include "config/source.hpp"
#include "config/words.hpp"
#include "idem/text/field_syntax.hpp"
#include "idem/text/json_pointer.hpp"

namespace idem::config {
namespace {

constexpr milliseconds longest = 24h * 3650;
/// Renewals come each third of a lease and up to 100 ms late, as all timers here: a shorter lease would lapse beside
/// its living owner.
constexpr milliseconds shortest_lease = 200ms;
constexpr std::size_t mib = 1024 * 1024;

void read_namespace(const section& block, idempotency_draft& to) {
  const auto value = block.text("namespace", "a name");
  if (!value || value->text.empty()) return;
  const bool fine = value->text.size() <= 128 && std::all_of(value->text.begin(), value->text.end(), text::is_visible);
  if (!fine) {
    block.out().error(value->at, value->shown + " is no name, expected 1 to 128 visible ASCII characters");
    return;
  }
  to.config.name_space = value->text;
  to.name_space_given = true;
}

/// A sum of up to three durations, each of them a reason why a retry may still come. Where one of them is faulty, that
/// was said, and there is no sum.
void read_retention_sum(const section& block, milliseconds& to) {
  const std::size_t errors = block.out().errors();
  const section parts = block.child("retention", schema::retention);
  milliseconds sum{0}, one{0};
  for (std::string_view key : schema::retention.keys) {
    if (parts.duration(key, one, {0ms, longest / 3})) sum += one;
  }
  if (parts.out().errors() > errors) return;
  if (sum > 0ms) {
    to = sum;
  } else {
    parts.out().error(parts.at(),
                      "adds up to nothing, expected a duration or {client_retries, delivery_delay, compensation}");
  }
}

void read_times(const section& block, idempotency_draft& to) {
  const auto duration = [&](std::string_view key, milliseconds& value, std::optional<place>& at,
                            milliseconds least = 10ms) {
    if (block.duration(key, value, {least, longest})) at = block.where(key);
  };
  duration("lease", to.config.lease, to.lease, shortest_lease);
  duration("max_processing", to.config.max_processing, to.max_processing);
  const tree_node* retention = block.find("retention");
  if (retention && retention->type == tree_node::kind::map) {
    read_retention_sum(block, to.config.retention);
    to.retention = block.where("retention");
  } else {
    duration("retention", to.config.retention, to.retention);
  }
  if (block.duration("hold", to.config.hold, {10ms, longest})) {
    to.hold = block.where("hold");
    to.hold_given = true;
  }
}

void read_in_flight(const section& in_flight, idempotency_draft& to) {
  const bool respond = in_flight.choice("respond", to.config.in_flight.respond, respond_words);
  const bool wait = in_flight.duration("wait", to.config.in_flight.wait, {0ms, 24h});
  in_flight.number("max_waiters", to.config.in_flight.max_waiters, {1, 100'000});
  if (respond) {
    to.respond = in_flight.where("respond");
    // a route that does not wait has no use for the time that `defaults` has for those that do
    if (!wait && to.config.in_flight.respond != in_flight_respond::wait) to.config.in_flight.wait = 0ms;
  }
  if (wait) to.wait = in_flight.where("wait");
}

void read_mismatch_status(const section& block, unsigned& to) {
  const auto value = block.text("mismatch_status", "422, 409 or 400");
  if (!value) return;
  for (unsigned status : {422u, 409u, 400u}) {
    if (value->text != std::to_string(status)) continue;
    to = status;
    return;
  }
  block.out().error(value->at, value->shown + " is not a choice, expected 422, 409 or 400");
}

void read_replay_headers(const section& block, std::vector<std::string>& drop) {
  const section replay = block.child("replay_headers", schema::replay_headers);
  const auto names = replay.texts("drop", "names of header fields");
  if (!names) return;
  drop.clear();
  for (const scalar& name : *names) {
    if (text::is_token(name.text)) {
      drop.push_back(name.text);
    } else {
      replay.out().error(name.at, name.shown + " is no name of a header field");
    }
  }
}

bool reads_members(body_mode mode) {
  return mode == body_mode::automatic || mode == body_mode::json || mode == body_mode::form;
}

/// What is wrong with an entry of `exclude` or `include`, or nothing. The field of a form may have any name, one that
/// begins with a slash included.
std::string fault_of_member(std::string_view text, body_mode mode) {
  if (mode == body_mode::form) return "";
  if (text.starts_with("$.") || text.starts_with("$[")) {
    return "is JSONPath, expected a JSON pointer (RFC 6901) such as /metadata/sent_at";
  }
  if (!text.starts_with('/')) {
    return mode == body_mode::json ? "is no JSON pointer, which `body: json` needs, expected a / before it" : "";
  }
  return text::parse_json_pointer(text) ? "" : "is no JSON pointer (RFC 6901): ~ is written ~0, / in a name ~1";
}

}  // namespace

void read_fingerprint(const section& fingerprint, fingerprint_config& out) {
  fingerprint.choice("body", out.body, body_words);
  fingerprint.flag("query", out.query);
  if (const auto names = fingerprint.texts("headers", "names of header fields")) {
    out.headers.clear();
    for (const scalar& name : *names) {
      if (!text::is_token(name.text)) fingerprint.out().error(name.at, name.shown + " is no name of a header field");
      out.headers.push_back(name.text);
    }
  }
  for (auto [key, list] : {std::pair{"exclude", &out.exclude}, std::pair{"include", &out.include}}) {
    const auto members = fingerprint.texts(key, "JSON pointers or names of form fields");
    if (!members) continue;
    list->clear();
    if (fingerprint.refused("body")) continue;  // what they must be depends on it
    for (const scalar& member : *members) {
      const std::string why = fault_of_member(member.text, out.body);
      if (member.text.empty()) {
        fingerprint.out().error(member.at, "is empty, expected a JSON pointer or the name of a form field");
      } else if (!why.empty()) {
        fingerprint.out().error(member.at, member.shown + " " + why);
      }
      list->push_back(member.text);
    }
    if (fingerprint.find("body") && !reads_members(out.body) && !list->empty()) {
      fingerprint.out().error(
          fingerprint.where(key),
          "has no effect with `body: multipart`, `body: none` or `body: raw`, expected auto, json or form");
    }
  }
}

void read_idempotency(const section& block, idempotency_draft& out) {
  read_preset(block, out);  // first: the keys beside it are said on top of it
  read_settings(block, out);
}

void read_settings(const section& block, idempotency_draft& out) {
  idempotency_config& to = out.config;
  read_namespace(block, out);
  block.choice("mode", to.mode, mode_words);
  read_key(block.child("key", schema::key), out);
  read_scope(block, out);
  read_fingerprint(block.child("fingerprint", schema::fingerprint), to.fingerprint);
  block.choice("guarantee", to.guarantee, guarantee_words);
  read_statuses(block.child("statuses", schema::statuses), out);
  read_times(block, out);
  read_in_flight(block.child("in_flight", schema::in_flight), out);
  read_mismatch_status(block, to.mismatch_status);
  block.size("max_request_body", to.max_request_body, {0, 1024 * mib});
  if (block.size("max_stored_body", to.max_stored_body, {0, 16 * mib})) {
    out.max_stored_body = block.where("max_stored_body");
  }
  block.choice("oversize", to.oversize, oversize_words);
  read_replay_headers(block, to.replay_drop);
  block.choice("on_store_error", to.on_store_error, store_error_words);
  block.flag("attempt_header", to.attempt_header);
  read_answer(block.child("answer", schema::answer), out);
  read_jwt(block.child("jwt", schema::jwt), out);
  read_signature(block.child("signature", schema::signature), out);
  if (block.choice("absent_is_success", to.absent_is_success, absent_words)) {
    out.absent_is_success = block.where("absent_is_success");
  }
  read_cors(block.child("cors", schema::cors), out);
}

}  // namespace idem::config
