#include <fcntl.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>

#include "app/check.hpp"
#include "app/key_command.hpp"
#include "app/serve.hpp"
#include "idem/admin/admin.hpp"
#include "idem/app/app.hpp"
#include "idem/telemetry/version.hpp"

namespace idem::app {

namespace {

constexpr std::string_view default_admin = "127.0.0.1:9911";

int drain(const std::string& address) {
  config::endpoint where;
  if (!parse_admin_address(address, where)) {
    std::fprintf(stderr, "idempotency-proxy: --admin %s: expected host:port, [v6]:port or unix:/path\n",
                 address.c_str());
    return usage;
  }
  std::string message;
  const int code = admin::post_drain(where, message);
  std::fprintf(code == 0 ? stdout : stderr, "%s\n", message.c_str());
  return code;
}

/// What is wrong with the value of --rps, or nothing.
std::string per_second_fault(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool fine = error == std::errc() && end == text.data() + text.size() && number > 0 && number <= 1e9;
  return fine ? "" : "expected a number of keys, more than 0 and at most 1000000000";
}

/// Where a standard descriptor is closed, the next thing that is opened gets its number, and what is printed or logged
/// would go into that: a connection, or what wakes a thread.
void keep_standard_descriptors() {
  int fd = 0;
  do fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_descriptors();
  // Peers that go away while they are written to are an error code, never the end of the process.
  std::signal(SIGPIPE, SIG_IGN);

  CLI::App cli("A sidecar that makes HTTP APIs safe to retry.", "idempotency-proxy");
  cli.require_subcommand(0, 1);
  std::string file;
  cli.add_option("--config", file, "Configuration file");

  auto* run_command = cli.add_subcommand("run", "Serve");
  std::string run_file;
  run_command->add_option("--config", run_file, "Configuration file")->required();

  auto* check_command = cli.add_subcommand("check", "Check a configuration and print every fault");
  check_options checked;
  check_command->add_option("--config", checked.file, "Configuration file")->required();
  check_command->add_flag("--show", checked.show, "Print the routes as they are in force, presets expanded");
  check_command
      ->add_option("--rps", checked.per_second, "New keys a second for which the size of the store is estimated")
      ->check(per_second_fault);

  auto* drain_command = cli.add_subcommand("drain", "Tell a running process to stop being ready; it goes on serving");
  std::string admin_address(default_admin);
  drain_command->add_option("--admin", admin_address, "Its admin address")->capture_default_str();

  key_request key;
  bool key_chosen = false;
  add_key_commands(cli, key, key_chosen);

  auto* version_command = cli.add_subcommand("version", "Print the version");

  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return cli.exit(e) == 0 ? ok : usage;
  }

  if (*version_command) {
    std::printf("idempotency-proxy %s\n", std::string(telemetry::version).c_str());
    return ok;
  }
  if (*check_command) return check(checked);
  if (*drain_command) return drain(admin_address);
  if (key_chosen) return run_key_command(key);
  if (*run_command) return serve(run_file);
  if (!file.empty()) return serve(file);
  std::cerr << cli.help();
  return usage;
}

}  // namespace idem::app
