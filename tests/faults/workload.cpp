#include "faults/workload.hpp"

#include <algorithm>

namespace idem::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

enum class manner { plain, slow, reset, truncated, busy, failing, refused, large };

struct plan {
  manner how = manner::plain;
  std::chrono::milliseconds delay{};
  std::size_t size = 0;
  bool chunked = false;
};

plan plan_of(std::uint64_t seed, std::size_t n) {
  constexpr manner table[] = {manner::plain, manner::plain,   manner::plain,   manner::plain, manner::slow,
                              manner::slow,  manner::slow,    manner::reset,   manner::reset, manner::truncated,
                              manner::busy,  manner::failing, manner::refused, manner::large};
  dice d(seed * 1'000'003 + n);
  plan p;
  p.how = table[roll(d, std::size(table))];
  p.delay = p.how == manner::slow ? roll(d, 500, 3000) : roll(d, 0, 40);
  p.size = p.how == manner::large ? 5000 + roll(d, 8000) : roll(d, 900);
  p.chunked = roll(d, 2) == 0;
  return p;
}

std::size_t number_in(const std::string& body) {
  const auto at = body.find("\"n\":");
  return at == std::string::npos ? 0 : std::strtoull(body.c_str() + at + 4, nullptr, 10);
}

std::string route_of(const std::string& target) { return target.substr(1, target.find('/', 1) - 1); }

operation operation_in(const backend_request& r) {
  const auto route = route_of(r.target);
  return {route != "again", route, r.value("X-Tenant"), r.key(), r.body};
}

int status_of(manner how, bool first_delivery) {
  switch (how) {
    case manner::busy: return first_delivery ? 503 : 201;
    case manner::failing: return first_delivery ? 500 : 201;
    case manner::refused: return 422;
    default: return 201;
  }
}

outcome outcome_of(manner how, int status, bool at_most_once, bool first_delivery) {
  if ((how == manner::reset || how == manner::truncated) && first_delivery) return outcome::broken;
  return status == 503 || (status == 500 && !at_most_once) ? outcome::released : outcome::kept;
}

/// Lines whose order, case and multiplicity must survive.
plain_answer answer_of(const plan& p, int status, std::size_t execution) {
  plain_answer a{status, "As Planned", {}, {}};
  a.lines = {{"X-Execution", std::to_string(execution)},
             {"sEt-CoOkIe", "a=" + std::to_string(execution)},
             {"Content-Type", "text/plain"},
             {"sEt-CoOkIe", "b=2; Path=/"}};
  const auto letter = static_cast<char>('a' + execution % 26);
  a.body = std::to_string(execution) + std::string(p.size, letter);
  return a;
}

std::string bytes_of(const plain_answer& a, bool chunked) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : a.lines) lines.push_back(name + ": " + value);
  return answer_bytes(a.status, a.body, lines, chunked ? framing::chunked : framing::length, a.reason);
}

}  // namespace

operation workload::operation_of(std::size_t n) const {
  dice d(seed * 7'000'003 + n);
  const auto& route = routes[roll(d, routes.size())];
  const std::string tenant = roll(d, 2) == 0 ? "red" : "blue";
  return {route != "again", route, tenant, "key-" + std::to_string(n), "{\"n\":" + std::to_string(n) + "}"};
}

// ---------------------------------------------------------------------------------------------------------- backend

eventful_backend::eventful_backend(const workload& w, recorder& into) : workload_(w), into_(into) {
  server_.on("*", [this](const backend_request& r, backend_connection& c) { serve(r, c); });
}

void eventful_backend::serve(const backend_request& r, backend_connection& c) {
  execution e;
  e.what = operation_in(r);
  e.attempt = std::strtoull(r.value("X-Try").c_str(), nullptr, 10);
  e.at = steady_clock::now();
  const auto p = plan_of(workload_.seed, number_in(r.body));
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = ++deliveries_[e.what.identity()] == 1;
  }
  const int status = status_of(p.how, first);
  e = into_.add(std::move(e), [&](execution& numbered) {
    numbered.end = outcome_of(p.how, status, numbered.what.at_most_once, first);
    numbered.answer = answer_of(p, status, numbered.id);
  });
  if (!c.sleep(p.delay)) return c.close();
  // Only an answer with trailers can still say `not-stored` behind a body that was relayed already; where an answer
  // may be given twice, each one has to be able to.
  const auto bytes = bytes_of(e.answer, p.chunked || p.how == manner::large || !e.what.at_most_once);
  if (e.end != outcome::broken) {
    c.send(bytes);
    return;
  }
  if (p.how == manner::truncated) {
    c.send(std::string_view(bytes).substr(0, bytes.size() / 2 + p.size % 40));
    c.sleep(20ms);
  }
  c.reset();
}

// ---------------------------------------------------------------------------------------------------------- clients

clients::clients(const workload& w, std::vector<std::uint16_t> proxies, recorder& into, std::size_t count)
    : workload_(w), proxies_(std::move(proxies)), into_(into) {
  for (std::size_t i = 1; i <= count; ++i) threads_.emplace_back([this, i] { live(i); });
}

clients::~clients() { stop(); }

void clients::stop() {
  ended_ = true;
  for (auto& t : threads_) t.join();
  threads_.clear();
}

void clients::live(std::size_t number) {
  dice d(workload_.seed * 31 + number);
  while (!ended_) {
    // mostly what others ask for at the same time, or did a while ago
    const auto newest = roll(d, 3) == 0 ? ++newest_ : newest_.load();
    const auto back = roll(d, 8) == 0 ? 60u : 5u;
    auto o = workload_.operation_of(newest - std::min<std::size_t>(newest - 1, roll(d, back)));
    if (roll(d, 12) == 0) o.scope = o.scope == "red" ? "blue" : "red";
    if (roll(d, 20) == 0) o.body.insert(o.body.size() - 1, ",\"thief\":true");
    pursue(o, d);
  }
}

void clients::pursue(const operation& o, dice& d) {
  auto backoff = 20ms;
  for (auto left = 1 + roll(d, 6); left > 0 && !ended_; --left) {
    const auto patience = roll(d, 4) == 0 ? roll(d, 5, 500) : 5000ms;
    const auto answer = try_once(o, proxies_[roll(d, proxies_.size())], patience);
    if (answer.whole() && answer.status < 300 && roll(d, 2) == 0) return;
    std::this_thread::sleep_for(backoff + roll(d, 0, static_cast<int>(backoff.count())));
    backoff = std::min(backoff * 2, 640ms);
  }
}

http_response clients::try_once(const operation& o, std::uint16_t proxy, std::chrono::milliseconds patience) {
  attempt a;
  a.id = into_.new_attempt();
  a.what = o;
  http_request r;
  r.target = "/" + o.route + "/things";
  r.body = o.body;
  r.with("Idempotency-Key", o.key)
      .with("X-Tenant", o.scope)
      .with("X-Try", std::to_string(a.id))
      .with("Content-Type", "application/json");
  a.sent = steady_clock::now();
  http_client client(proxy);
  if (client.connected()) {
    a.answer = client.exchange(r, patience);
    if (a.answer.end == ending::timeout) client.reset();
  }
  a.ended = steady_clock::now();
  auto answer = a.answer;
  into_.add(std::move(a));
  return answer;
}

void clients::ask_for_all() {
  std::atomic<std::size_t> next{1};
  const auto work = [&] {
    for (std::size_t n = next++; n <= newest_; n = next++)
      for (const auto proxy : proxies_) try_once(workload_.operation_of(n), proxy, 20s);
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back(work);
  for (auto& w : workers) w.join();
}

}  // namespace idem::test
