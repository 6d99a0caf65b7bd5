#include "app/key_record.hpp"

#include <algorithm>
#include <cstdio>

#include "app/key_command.hpp"
#include "idem/text/rfc3339.hpp"

namespace idem::app {

using idempotency::op;
using idempotency::record_state;
using idempotency::verdict;

namespace {

std::string_view word(const seen_record& r) {
  if (r.lapsed()) return "UNKNOWN (lapsed: its owner went silent)";
  switch (r.value().state) {
    case record_state::processing: return "PROCESSING";
    case record_state::unknown: return "UNKNOWN (declared)";
    case record_state::succeeded: return "SUCCEEDED";
    case record_state::failed_final: return "FAILED_FINAL";
    case record_state::without_body: return "COMPLETED_WITHOUT_BODY";
    case record_state::revoked: return "REVOKED";
  }
  return "?";
}

std::string in_progress(const config::idempotency_config& route) {
  switch (route.in_flight.respond) {
    case config::in_flight_respond::accepted: return "202 in-progress";
    case config::in_flight_respond::wait: return "waits for the answer; 409 in-progress if none comes in time";
    case config::in_flight_respond::conflict: break;
  }
  return "409 in-progress";
}

std::string unknown(const seen_record& r, const config::idempotency_config& route) {
  const auto repeats = config::guarantee::at_least_once;
  const bool dated = r.ttl != store::reply::no_expiry;
  if (dated && route.guarantee == repeats && r.value().guarantee == repeats) {
    return "is executed, as attempt " + std::to_string(std::min(r.value().owner.attempt + 1, 0xffff));
  }
  return "409 outcome-unknown";
}

/// What the table "What a duplicate gets" of docs/protocol.md says of this record.
std::string retry_gets(const seen_record& r, const config::idempotency_config& route) {
  const auto& v = r.value();
  if (route.mode != config::route_mode::enforce) return "passes: the route only observes, or is off";
  switch (v.state) {
    case record_state::succeeded:
    case record_state::failed_final: return "the stored answer, " + std::to_string(v.status);
    case record_state::without_body:
      if (route.oversize == config::oversize_policy::status_only && v.status != 0) {
        return "status " + std::to_string(v.status) + " and its header lines, without the body";
      }
      return "409 answer-not-kept";
    case record_state::unknown: return unknown(r, route);
    case record_state::processing:
    case record_state::revoked: break;
  }
  if (r.ttl == store::reply::no_expiry || r.lapsed()) return unknown(r, route);
  return in_progress(route);
}

}  // namespace

store::reply key_store::run(const store::command& c) { return std::move(run_all({&c, 1}).front()); }

std::vector<store::reply> key_store::look_at(std::span<const std::string> names) {
  std::vector<store::command> all(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    all[i].what = op::look;
    all[i].name = names[i];
  }
  return run_all(all);
}

std::vector<store::reply> key_store::run_all(std::span<const store::command> all) {
  std::vector<store::reply> answers(all.size());
  std::size_t missing = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    session_->submit(all[i], [&, i](store::reply r) {
      answers[i] = std::move(r);
      --missing;
    });
  }
  while (missing > 0 && io_.run_one() > 0) {
  }
  return answers;
}

seen_record decode_found(store::reply&& found) {
  seen_record seen;
  seen.text = std::move(found.value);
  seen.ttl = found.ttl;
  seen.decoded = idempotency::decode(seen.text);
  return seen;
}

bool seen_record::lapsed() const {
  return value().state == record_state::processing && ttl >= 0 && ttl <= value().hold.count();
}

std::string first_seen(const idempotency::record& r) {
  std::string out;
  text::append_rfc3339(out, r.created);
  return out;
}

int complain(int code, const std::string& what) {
  std::fprintf(stderr, "idempotency-proxy key: %s\n", what.c_str());
  return code;
}

int look(key_store& store, const std::string& name, seen_record& seen) {
  store::command c;
  c.what = op::look;
  c.name = name;
  auto r = store.run(c);
  if (r.what == verdict::absent) return complain(key_not_found, "no record: never seen, released, or expired");
  if (r.what != verdict::found) return complain(key_failed, "the store does not answer");
  seen = decode_found(std::move(r));
  if (seen.decoded.result == idempotency::decode_result::foreign) {
    return complain(key_failed,
                    "what stands there is no record of this version; it is left alone, and a retry gets 503 "
                    "store-unavailable");
  }
  if (seen.decoded.result == idempotency::decode_result::damaged) {
    return complain(key_failed,
                    "the record is damaged (its checksum does not fit); it is left alone, and a retry gets 409 "
                    "answer-not-kept");
  }
  return key_done;
}

void print(const std::string& name, const seen_record& r, const config::idempotency_config& route,
           std::int64_t unix_ms) {
  const auto& v = r.value();
  std::printf("record      %s\n", name.c_str());
  std::printf("state       %s\n", std::string(word(r)).c_str());
  std::printf("attempt     %u\n", v.owner.attempt);
  std::printf("first seen  %s\n", first_seen(v).c_str());
  std::printf("age         %lld s\n", static_cast<long long>(std::max<std::int64_t>(0, unix_ms - v.created) / 1000));
  std::printf("guarantee   %s\n", v.guarantee == config::guarantee::at_most_once ? "at_most_once" : "at_least_once");
  if (r.ttl >= 0) std::printf("expires in  %lld s\n", static_cast<long long>(r.ttl / 1000));
  if (r.ttl == store::reply::no_expiry) std::printf("expires in  never: the record has no time to live\n");
  if (v.status != 0) std::printf("answer      %u, %zu bytes of body\n", v.status, v.body.size());
  std::printf("retry gets  %s\n", retry_gets(r, route).c_str());
}

}  // namespace idem::app
