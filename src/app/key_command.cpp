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

void add_list_options(CLI::App& command, list_options& list) {
  command.add_option("--state", list.states, "Only records in this state; may be repeated")
      ->check(CLI::IsMember(listed_states()));
  auto* json = command.add_flag("--json", list.json, "One JSON object a line");
  command.add_flag("--answers", list.answers, "With --json: the stored answers, too")->needs(json);
}

void add_one_key(CLI::App& command, key_request& q) {
  command.add_option("--route", q.route, "Name of the route")->required();
  auto* key = command.add_option("--key", q.key, "The key as the client sends it");
  auto* hash = command.add_option("--hash", q.hash, "key_hash of the log, instead of --key and --scope");
  key->excludes(hash);
  command.add_option("--scope", q.scope,
                     "SOURCE=VALUE for each part of the route's scope, e.g. Authorization='Bearer …'");
}

int run_on_one_key(const config::snapshot& c, const key_request& q) {
  const auto* route = c.named(q.route);
  if (!route) return complain(key_failed, "--route: the configuration has no route of that name");
  std::string why;
  const auto name = record_name_of(c, *route, q, why);
  if (name.empty()) return complain(key_failed, why);
  key_answer answer;
  if (q.what == key_request::verb::resolve) {
    if (why = make_answer(q, answer); !why.empty()) return complain(key_failed, why);
  }
  key_store store(c.store);
  seen_record seen;
  if (const int code = look(store, name, seen); code != key_done) return code;
  print(name, seen, route->idempotency, unix_ms_now());
  key_change change(store, q, route->idempotency, name, seen);
  switch (q.what) {
    case key_request::verb::list:
    case key_request::verb::show: return key_done;
    case key_request::verb::release: return change.release();
    case key_request::verb::resolve: return change.resolve(answer);
  }
  return key_failed;
}

}  // namespace

void add_key_commands(CLI::App& cli, key_request& q, bool& chosen) {
  auto* key = cli.add_subcommand("key", "List the keys in the store; look at one, free it, or give it an answer");
  key->require_subcommand(1);
  auto* list = key->add_subcommand("list", "List all records but those of routes that observe");
  add_list_options(*list, q.list);
  auto* show = key->add_subcommand("show", "Show its record");
  auto* rel = key->add_subcommand("release", "Free it: a running attempt is revoked, an unknown outcome forgotten");
  auto* res = key->add_subcommand("resolve", "Give an unknown outcome the answer that every retry gets from then on");
  for (auto* command : {show, rel, res}) add_one_key(*command, q);
  const std::pair<CLI::App*, key_request::verb> all[] = {{list, key_request::verb::list},
                                                         {show, key_request::verb::show},
                                                         {rel, key_request::verb::release},
                                                         {res, key_request::verb::resolve}};
  for (const auto& [command, verb] : all) {
    command->add_option("--config", q.file, "Configuration file")->required();
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
  const bool changes = q.what == key_request::verb::release || q.what == key_request::verb::resolve;
  if (changes && q.reason.find_first_not_of(" \t") == std::string::npos) {
    return complain(key_failed, "--reason: expected a text for the log");
  }
  if (loaded.config->store.type == config::store_type::memory) {
    return complain(key_failed,
                    "the memory store lives inside the running process; these commands need a shared store");
  }
  return q.what == key_request::verb::list ? list_keys(loaded.config->store, q.list)
                                           : run_on_one_key(*loaded.config, q);
}

}  // namespace idem::app
