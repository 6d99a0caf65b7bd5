#include "app/key_command.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>

#include "app/check.hpp"
#include "app/key_answer.hpp"
#include "app/key_name.hpp"
#include "app/key_record.hpp"
#include "idem/config/load.hpp"
#include "idem/idempotency/record.hpp"
#include "idem/telemetry/log.hpp"

namespace idem::app {

using idempotency::op;
using idempotency::record_state;
using idempotency::verdict;

namespace {

std::int64_t unix_ms_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
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

store::reply revoke(key_store& store, const std::string& name, const seen_record& r) {
  const auto prefix = idempotency::record_prefix(r.value().state, r.value().owner);
  store::command c;
  c.what = op::revoke;
  c.name = name;
  c.expect = prefix;
  c.ttl = 2 * r.value().lease;
  return store.run(c);
}

int release(key_store& store, const key_request& q, const std::string& name, const seen_record& r) {
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
int make_unknown(key_store& store, const std::string& name, seen_record& r) {
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

int resolve(key_store& store, const key_request& q, const config::idempotency_config& route, const key_answer& answer,
            const std::string& name, seen_record& r) {
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
  key_store store(loaded.config->store);
  seen_record seen;
  if (const int code = look(store, name, seen); code != key_done) return code;
  print(name, seen, route->idempotency, unix_ms_now());
  switch (q.what) {
    case key_request::verb::show: return key_done;
    case key_request::verb::release: return release(store, q, name, seen);
    case key_request::verb::resolve: return resolve(store, q, route->idempotency, answer, name, seen);
  }
  return key_failed;
}

}  // namespace idem::app
