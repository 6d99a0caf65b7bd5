#include "app/key_command.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <ctime>

#include "app/check.hpp"
#include "app/key_answer.hpp"
#include "app/key_name.hpp"
#include "idem/config/load.hpp"
#include "idem/idempotency/record.hpp"
#include "idem/store/store.hpp"
#include "idem/telemetry/log.hpp"

namespace idem::app {

using idempotency::op;
using idempotency::record_state;
using idempotency::verdict;

namespace {

/// The store, used by one command after the other.
class store_client {
 public:
  explicit store_client(const config::store_config& settings)
      : backend_(store::make_backend(settings)), session_(backend_->open(io_)) {}
  ~store_client() { session_->close(); }

  store::reply run(const store::command& c) {
    store::reply answer;
    bool done = false;
    session_->submit(c, [&](store::reply r) {
      answer = std::move(r);
      done = true;
    });
    while (!done && io_.run_one() > 0) {
    }
    return answer;
  }

 private:
  net::asio::io_context io_{1};
  std::unique_ptr<store::backend> backend_;
  std::unique_ptr<store::session> session_;
};

struct seen_record {
  std::string text;
  idempotency::decoded_record decoded;
  std::int64_t ttl = 0;

  const idempotency::record& value() const { return decoded.value; }
  bool lapsed() const { return value().state == record_state::processing && ttl >= 0 && ttl <= value().hold.count(); }
};

int complain(int code, const std::string& what) {
  std::fprintf(stderr, "idempotency-proxy key: %s\n", what.c_str());
  return code;
}

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

std::string utc(std::int64_t ms) {
  const std::time_t t = ms / 1000;
  std::tm parts{};
  ::gmtime_r(&t, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// 0 with a record, or the exit code.
int look(store_client& store, const std::string& name, seen_record& seen) {
  store::command c;
  c.what = op::look;
  c.name = name;
  auto r = store.run(c);
  if (r.what == verdict::absent) return complain(key_not_found, "no record: never seen, released, or expired");
  if (r.what != verdict::found) return complain(key_failed, "the store does not answer");
  seen.text = std::move(r.value);
  seen.ttl = r.ttl;
  seen.decoded = idempotency::decode(seen.text);
  if (seen.decoded.result == idempotency::decode_result::foreign) {
    return complain(key_failed, "what stands there is no record of this version; it is left alone");
  }
  if (seen.decoded.result == idempotency::decode_result::damaged) {
    return complain(key_failed, "the record is damaged (its checksum does not fit); it is left alone");
  }
  return key_done;
}

void print(const std::string& name, const seen_record& r) {
  const auto& v = r.value();
  std::printf("record      %s\n", name.c_str());
  std::printf("state       %s\n", std::string(word(r)).c_str());
  std::printf("attempt     %u\n", v.owner.attempt);
  std::printf("first seen  %s\n", utc(v.created).c_str());
  std::printf("guarantee   %s\n", v.guarantee == config::guarantee::at_most_once ? "at_most_once" : "at_least_once");
  if (r.ttl >= 0) std::printf("expires in  %lld s\n", static_cast<long long>(r.ttl / 1000));
  if (r.ttl == store::reply::no_expiry) std::printf("expires in  never: the record has no time to live\n");
  if (v.status != 0) std::printf("answer      %u, %zu bytes of body\n", v.status, v.body.size());
}

int outcome(const store::reply& r) {
  if (r.what == verdict::done || r.what == verdict::recreated) return key_done;
  if (r.what == verdict::lost || r.what == verdict::absent || r.what == verdict::already) {
    return complain(key_changed, "the record changed meanwhile, or is too young; look again");
  }
  return complain(key_failed, "the store does not answer, or takes no writes; nothing is certain: look again");
}

void audit(const char* what, const key_request& q, const std::string& name, const seen_record& r) {
  const auto state = std::string(1, static_cast<char>(r.value().state));
  telemetry::warn("an operator changed a record", {{"what", std::string_view(what)},
                                                   {"route", std::string_view(q.route)},
                                                   {"record", std::string_view(name)},
                                                   {"state_before", std::string_view(state)},
                                                   {"reason", std::string_view(q.reason)}});
}

store::reply revoke(store_client& store, const std::string& name, const seen_record& r) {
  const auto prefix = idempotency::record_prefix(r.value().state, r.value().owner);
  store::command c;
  c.what = op::revoke;
  c.name = name;
  c.expect = prefix;
  c.ttl = 2 * r.value().lease;
  return store.run(c);
}

int release(store_client& store, const key_request& q, const std::string& name, const seen_record& r) {
  const auto& v = r.value();
  switch (v.state) {
    case record_state::processing: {
      audit("release", q, name, r);
      if (const int code = outcome(revoke(store, name, r)); code != key_done) return code;
      std::printf("revoked: the key is free in %lld s, unless its owner answers before\n",
                  static_cast<long long>(2 * v.lease.count() / 1000));
      return key_done;
    }
    case record_state::unknown: {
      audit("release", q, name, r);
      const auto prefix = idempotency::record_prefix(v.state, v.owner);
      store::command c;
      c.what = op::resolve;
      c.name = name;
      c.expect = prefix;
      c.hold = v.hold;
      c.lease = v.lease;
      const int code = outcome(store.run(c));
      if (code == key_done) std::printf("released: the next request with this key executes\n");
      return code;
    }
    case record_state::revoked: return complain(key_changed, "it is revoked already and expires by itself");
    default: return complain(key_changed, "it has an answer; only an unknown or running key can be released");
  }
}

/// A lapsed P becomes R and then U, so that its owner, should it come back, finds what was decided.
int make_unknown(store_client& store, const std::string& name, seen_record& r) {
  if (const int code = outcome(revoke(store, name, r)); code != key_done) return code;
  auto unknown = r.value();
  unknown.state = record_state::unknown;
  unknown.header_block = unknown.body = {};
  const auto value = idempotency::encode(unknown);
  const auto own = unknown.owner.text();
  store::command c;
  c.what = op::declare;
  c.name = name;
  c.value = value;
  c.expect = own;
  c.ttl = unknown.hold;
  if (const int code = outcome(store.run(c)); code != key_done) return code;
  return look(store, name, r);
}

int resolve(store_client& store, const key_request& q, const config::idempotency_config& route,
            const key_answer& answer, const std::string& name, seen_record& r) {
  if (r.value().state == record_state::processing && !r.lapsed()) {
    return complain(key_changed, "its owner is alive; release it first, or wait for its answer");
  }
  audit("resolve", q, name, r);
  if (r.lapsed()) {
    if (const int code = make_unknown(store, name, r); code != key_done) return code;
  }
  if (r.value().state != record_state::unknown) return complain(key_changed, "only an unknown outcome can be resolved");
  const auto prefix = idempotency::record_prefix(r.value().state, r.value().owner);
  auto answered = r.value();
  answered.state = q.status < 400 ? record_state::succeeded : record_state::failed_final;
  answered.status = q.status;
  answered.header_block = answer.block;
  answered.body = answer.body;
  const auto value = idempotency::encode(answered);
  store::command c;
  c.what = op::resolve;
  c.name = name;
  c.value = value;
  c.expect = prefix;
  c.ttl = route.retention;
  c.notify = route.in_flight.respond == config::in_flight_respond::wait;
  const int code = outcome(store.run(c));
  if (code == key_done) std::printf("resolved: every retry gets %u from now on\n", q.status);
  return code;
}

const config::route* find_route(const config::snapshot& c, const std::string& name) {
  for (const auto& r : c.routes) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

void add_common(CLI::App& command, key_request& q) {
  command.add_option("--config", q.file, "Configuration file")->required();
  command.add_option("--route", q.route, "Name of the route")->required();
  auto* key = command.add_option("--key", q.key, "The key as the client sends it");
  auto* hash = command.add_option("--hash", q.hash, "key_hash of the log, instead of --key and --scope");
  key->excludes(hash);
  command.add_option("--scope", q.scope,
                     "SOURCE=VALUE for each part of the route's scope, e.g. Authorization='Bearer …'");
}

}  // namespace

void add_key_commands(CLI::App& cli, key_request& q, bool& chosen) {
  auto* key = cli.add_subcommand("key", "Look at one key in the store, free it, or give it an answer");
  key->require_subcommand(1);
  auto* show = key->add_subcommand("show", "Show its record");
  auto* rel = key->add_subcommand("release", "Free it: a running attempt is revoked, an unknown outcome forgotten");
  auto* res = key->add_subcommand("resolve", "Give an unknown outcome the answer that every retry gets from then on");
  const std::pair<CLI::App*, key_request::verb> all[] = {
      {show, key_request::verb::show}, {rel, key_request::verb::release}, {res, key_request::verb::resolve}};
  for (const auto& [command, verb] : all) {
    add_common(*command, q);
    command->callback([&q, &chosen, v = verb] {
      q.what = v;
      chosen = true;
    });
  }
  for (auto* command : {rel, res}) command->add_option("--reason", q.reason, "Why, for the log")->required();
  res->add_option("--status", q.status, "Status of the answer")->required();
  res->add_option("--header", q.headers, "A line 'Name: value' of the answer; may be repeated");
  res->add_option("--body", q.body_file, "File with the answer's body");
}

int run_key_command(const key_request& q) {
  const auto loaded = config::load_file(q.file);
  if (!loaded.ok()) {
    app::print(loaded);
    return key_failed;
  }
  const auto* route = find_route(*loaded.config, q.route);
  if (!route) return complain(key_failed, "--route: the configuration has no route of that name");
  if (loaded.config->store.type == config::store_type::memory) {
    return complain(key_failed,
                    "the memory store lives inside the running process; these commands need a shared store");
  }
  std::string why;
  const auto name = record_name_of(*loaded.config, *route, q, why);
  if (name.empty()) return complain(key_failed, why);
  key_answer answer;
  if (q.what == key_request::verb::resolve) {
    if (why = make_answer(q, answer); !why.empty()) return complain(key_failed, why);
  }
  store_client store(loaded.config->store);
  seen_record seen;
  if (const int code = look(store, name, seen); code != key_done) return code;
  print(name, seen);
  switch (q.what) {
    case key_request::verb::show: return key_done;
    case key_request::verb::release: return release(store, q, name, seen);
    case key_request::verb::resolve: return resolve(store, q, route->idempotency, answer, name, seen);
  }
  return key_failed;
}

}  // namespace idem::app
