#include "support/proxy_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "support/eventually.hpp"
#include "support/redis_server.hpp"

namespace idem::test {
namespace {

void replace(std::string& text, std::string_view what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string address(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

}  // namespace

std::string configuration(const proxy_settings& s) {
  const auto also = [](const std::string& more) { return more.empty() ? std::string() : ", " + more; };
  const auto listen = s.listen_unix.empty() ? std::string("@LISTEN@") : "unix:" + s.listen_unix;
  std::string text = "server: {listen: [\"" + listen + "\"]" + also(s.server_more) + "}\n";
  text += "admin: {listen: \"@ADMIN@\"}\n";
  text += "upstream: {url: \"" + s.upstream + "\"" + also(s.upstream_more) + "}\n";
  if (s.redis_port == 0) {
    text += "store: {type: memory}\n";
  } else {
    text += "store: {type: redis, redis: {url: \"redis://" + s.redis_host + ":" + std::to_string(s.redis_port) +
            "/0\"" + also(s.redis_more) + "}}\n";
  }
  text += "routes:\n";
  if (s.routes.empty()) text += "  - {name: api}\n";
  for (const auto& r : s.routes) text += "  - " + r + "\n";
  return text + s.more + "\n";
}

proxy_process::proxy_process(proxy_settings settings)
    : proxy_process(configuration(settings), settings.wait_until_ready, settings.binary) {}

proxy_process::proxy_process(const std::string& text, bool wait_until_ready, std::string binary)
    : template_(text), binary_(binary.empty() ? IDEM_BINARY : std::move(binary)), wait_until_ready_(wait_until_ready) {
  // another program may take a port between the question and the start: exit status 3
  for (int tries = 0; tries < 5; ++tries) {
    choose_ports();
    write();
    if (try_start()) return;
  }
  throw std::runtime_error("the proxy does not start:\n" + text_ + log());
}

proxy_process::~proxy_process() {
  if (!ended_on_purpose_ && !process_.running()) {
    ADD_FAILURE() << "the proxy ended by itself, status " << process_.stop() << "\n" << log();
  } else if (::testing::Test::HasFailure()) {
    std::cerr << "---- configuration\n" << text_ << "---- log\n" << log() << "----\n";
  }
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  // leaks are looked for at an orderly end
  process_.stop(SIGTERM, std::chrono::seconds(4));
  if (log().find("Sanitizer: ") != std::string::npos) ADD_FAILURE() << "a sanitizer's report\n" << log();
#endif
  process_.stop(SIGKILL);
}

void proxy_process::choose_ports() {
  port_ = free_port();
  do admin_port_ = free_port();
  while (admin_port_ == port_);
}

void proxy_process::write() {
  text_ = template_;
  replace(text_, "@LISTEN@", address(port_));
  replace(text_, "@ADMIN@", address(admin_port_));
  replace(text_, "@PORT@", std::to_string(port_));
  replace(text_, "@FOLDER@", folder_.path().string());
  folder_.write("proxy.yaml", text_);
}

bool proxy_process::try_start() {
  const auto file = (folder_.path() / "proxy.yaml").string();
  const auto output = (folder_.path() / "proxy.log").string();
  process_ = child_process({binary_, "run", "--config", file}, output);
  ended_on_purpose_ = false;
  if (!wait_until_ready_) return true;
  eventually([&] { return !process_.running() || ready(); });
  if (process_.running() && ready()) return true;
  if (const int status = process_.stop(SIGKILL); status != 3) {
    ended_on_purpose_ = true;
    throw std::runtime_error("the proxy does not start, status " + std::to_string(status) + ":\n" + text_ + log());
  }
  return false;
}

bool proxy_process::ready() const { return admin("/readyz").status == 200; }

std::string proxy_process::log() const {
  std::ifstream file(folder_.path() / "proxy.log", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

http_response proxy_process::fetch(const http_request& request, http_client::limit time) const {
  return connect().exchange(request, time);
}

http_response proxy_process::admin(const std::string& target, const std::string& method) const {
  http_client client(admin_port_);
  if (!client.connected()) return {};
  http_request request;
  request.method = method;
  request.target = target;
  request.with("Connection", "close");
  return client.exchange(request);
}

std::optional<double> proxy_process::metric(std::string_view sample) const {
  std::istringstream page(admin("/metrics").body);
  for (std::string line; std::getline(page, line);) {
    if (line.size() > sample.size() && line.starts_with(sample) && line[sample.size()] == ' ') {
      return std::strtod(line.c_str() + sample.size() + 1, nullptr);
    }
  }
  return {};
}

void proxy_process::kill() {
  ended_on_purpose_ = true;
  process_.stop(SIGKILL);
}

void proxy_process::pause() const { process_.signal(SIGSTOP); }
void proxy_process::resume() const { process_.signal(SIGCONT); }

void proxy_process::terminate() const { process_.signal(SIGTERM); }

std::optional<int> proxy_process::wait_for_exit(std::chrono::milliseconds time) {
  if (!eventually([&] { return !process_.running(); }, time)) return {};
  ended_on_purpose_ = true;
  return process_.stop();
}

void proxy_process::start() {
  if (!try_start()) throw std::runtime_error("the proxy does not start again:\n" + log());
}

void proxy_process::reload(proxy_settings settings) {
  // The file's change may be noticed by itself, half-written even: only what SIGHUP caused counts.
  const auto reloads = [this] {
    std::istringstream lines(log());
    std::size_t n = 0;
    for (std::string l; std::getline(lines, l);)
      n += l.find("configuration taken up") != std::string::npos && l.find("SIGHUP") != std::string::npos ? 1 : 0;
    return n;
  };
  const auto before = reloads();
  template_ = configuration(settings);
  write();
  process_.signal(SIGHUP);
  if (!eventually([&] { return reloads() > before; })) throw std::runtime_error("no reload:\n" + log());
}

}  // namespace idem::test
