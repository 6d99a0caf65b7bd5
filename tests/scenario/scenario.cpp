#include "scenario/scenario.hpp"

namespace idem::test {
namespace {

std::string describe(const http_response& r) {
  return "status " + std::to_string(r.status) + ", ended " + std::to_string(static_cast<int>(r.end)) + " " + r.fault +
         "\n" + r.head + r.body.substr(0, 600);
}

/// What a replay must have in common with the first answer.
field_lines kept(const field_lines& fields) {
  field_lines left;
  for (const auto& f : fields) {
    const bool framing = same_name(f.first, "Content-Length") || same_name(f.first, "Transfer-Encoding") ||
                         same_name(f.first, "Trailer") || same_name(f.first, "Connection");
    if (!framing && !same_name(f.first, "Idempotent-Replayed")) left.push_back(f);
  }
  return left;
}

}  // namespace

redis_server& shared_redis() {
  static redis_server server;
  return server;
}

void scenario::SetUp() {
  if (kind_ == store::redis) shared_redis().command({"FLUSHALL"});
}

void scenario::TearDown() {
  for (const auto& f : backend.faults()) ADD_FAILURE() << "the backend got " << f;
}

proxy_settings scenario::settings(const std::string& policy) const {
  proxy_settings s;
  s.upstream = backend.url();
  if (kind_ == store::redis) s.redis_port = shared_redis().port();
  s.routes = {"{name: api, idempotency: {" + policy + "}}"};
  return s;
}

void scenario::start(const std::string& policy) { start(settings(policy)); }
void scenario::start(const proxy_settings& s) { proxy = std::make_unique<proxy_process>(s); }

std::string scenario::record_name() const {
  const auto keys = shared_redis().command({"KEYS", "idem:*"});
  return keys.items.size() == 1 ? keys.items[0].text : std::string();
}

char scenario::record_state() const {
  const auto value = shared_redis().command({"GET", record_name()}).text;
  return value.size() > 3 && value.starts_with("i1 ") ? value[3] : '-';
}

bool scenario::record_becomes(char state, std::chrono::milliseconds time) const {
  return eventually([&] { return record_state() == state; }, time);
}

http_response scenario::post(const std::string& key, const std::string& body) const {
  return proxy->fetch(charge(key, body));
}

http_request charge(const std::string& key, const std::string& body) {
  http_request r;
  r.target = "/v1/charges";
  r.body = body;
  r.with("Content-Type", "application/json");
  if (!key.empty()) r.with("Idempotency-Key", key);
  return r;
}

std::future<http_response> in_background(std::function<http_response()> what) {
  return std::async(std::launch::async, std::move(what));
}

::testing::AssertionResult is_fresh(const http_response& r, int status) {
  if (r.whole() && r.status == status && !r.has("Idempotent-Replayed") && !r.has("Idempotency-Status")) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "not the application's answer " << status << ": " << describe(r);
}

::testing::AssertionResult is_replay(const http_response& r, const http_response& first) {
  const auto differs = [&](const char* what) {
    return ::testing::AssertionFailure() << what << " of the replay: " << describe(r) << "\nfirst: " << describe(first);
  };
  if (!r.whole()) return differs("end");
  if (r.all("Idempotent-Replayed") != std::vector<std::string>{"true"}) return differs("mark");
  if (r.status != first.status) return differs("status");
  if (r.reason != first.reason) return differs("reason");
  if (r.body != first.body) return differs("body");
  if (kept(r.fields) != kept(first.fields)) return differs("fields");
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult is_problem(const http_response& r, int status, const std::string& code) {
  const bool type = r.body.find("\"urn:idempotency-proxy:problem:" + code + "\"") != std::string::npos;
  if (r.whole() && r.status == status && r.value("Idempotency-Status") == code && type &&
      r.value("Content-Type") == "application/problem+json" && !r.has("Idempotent-Replayed")) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "not " << status << " " << code << ": " << describe(r);
}

bool says(const http_response& problem, const std::string& member, bool value) {
  return problem.body.find("\"" + member + "\":" + (value ? "true" : "false")) != std::string::npos;
}

}  // namespace idem::test
