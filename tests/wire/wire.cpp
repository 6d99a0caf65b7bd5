#include "wire/wire.hpp"

namespace idem::test {

std::unique_ptr<stage> on_stage::shared_;

stage::stage(const std::string& server_more, const std::string& upstream_more)
    : stage(server_more, upstream_more, {}) {}

stage::stage(const std::string& server_more, const std::string& upstream_more, const std::string& scheme) {
  settings.upstream = scheme.empty() ? backend.url() : scheme + "127.0.0.1:" + std::to_string(backend.port());
  settings.upstream_more = upstream_more;
  settings.server_more = "threads: 1" + (server_more.empty() ? "" : ", " + server_more);
  settings.routes = {"{name: keyed, match: {path: /keyed}, idempotency: {max_request_body: 1KiB}}"};
  proxy = std::make_unique<proxy_process>(settings);
}

way on_stage::reach(std::string_view request, std::size_t size) {
  way w{client(), {}, {}};
  EXPECT_TRUE(w.client.send(request));
  w.backend = s().backend.accept();
  EXPECT_TRUE(w.backend.open()) << "the request does not reach the backend: " << w.client.within(100ms);
  w.request = w.backend.read(size);
  return w;
}

::testing::AssertionResult on_stage::backend_untouched(peer::limit time) {
  auto p = s().backend.accept(time);
  if (!p.open()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the backend got: " << p.within(100ms);
}

::testing::AssertionResult is_problem(const std::string& all, int status, std::string_view code) {
  const auto line = "HTTP/1.1 " + std::to_string(status) + " ";
  const auto mark = "\r\nIdempotency-Status: " + std::string(code) + "\r\n";
  if (all.starts_with(line) && all.find(mark) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "expected " << status << " " << code << ", got: " << all.substr(0, 600);
}

::testing::AssertionResult is_last_problem(const std::string& all, const peer& p, int status, std::string_view code) {
  if (auto r = is_problem(all, status, code); !r) return r;
  const auto fail = [&](const char* what) { return ::testing::AssertionFailure() << what << ": " << all; };
  const auto head = all.find("\r\n\r\n");
  if (head == std::string::npos) return fail("the head is not whole");
  if (all.find("\r\nConnection: close\r\n") > head) return fail("the end of the connection is not announced");
  const auto size = "\r\nContent-Length: " + std::to_string(all.size() - head - 4) + "\r\n";
  if (all.find(size) > head) return fail("something else than the body follows the head");
  if (p.ended() != peer::end::clean) return fail("the connection did not end orderly");
  return ::testing::AssertionSuccess();
}

bool sanitized() {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
  return true;
#else
  return false;
#endif
}

}  // namespace idem::test
