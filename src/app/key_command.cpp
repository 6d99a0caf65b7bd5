#include "app/key_command.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>

#include "app/check.hpp"
#include "app/key_change.hpp"
#include "app/key_name.hpp"
#include "idem/config/load.hpp"

namespace idem::app {

namespace {

std::int64_t unix_ms_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
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
  if (q.what != key_request::verb::show && q.reason.find_first_not_of(" \t") == std::string::npos) {
    return complain(key_failed, "--reason: expected a text for the log");
  }
  const auto* route = loaded.config->named(q.route);
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
  key_change change(store, q, route->idempotency, name, seen);
  switch (q.what) {
    case key_request::verb::show: return key_done;
    case key_request::verb::release: return change.release();
    case key_request::verb::resolve: return change.resolve(answer);
  }
  return key_failed;
}

}  // namespace idem::app
