// WebSocket through the proxy, by a client and a server that were not made for it: the npm package `ws` on both sides.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <filesystem>
#include <sstream>

#include "support/certificates.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/node_package.hpp"
#include "support/proxy_process.hpp"

namespace idem::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

const node_package& package() {
  static const node_package p(std::filesystem::path(IDEM_SOURCE_DIR) / "tests/scenario/websocket_client");
  return p;
}

/// The lines of JSON in a file that are complete.
std::vector<json::object> lines_of(const std::filesystem::path& file) {
  std::vector<json::object> all;
  std::istringstream lines(content(file));
  for (std::string line; std::getline(lines, line);) {
    boost::system::error_code ec;
    const auto value = json::parse(line, ec);
    if (!ec && value.is_object()) all.push_back(value.get_object());
  }
  return all;
}

json::object parsed(std::string_view text) { return json::parse(text).as_object(); }

class websocket_client : public ::testing::TestWithParam<bool> {
 protected:
  static bool with_tls() { return GetParam(); }

  void SetUp() override {
    if (!node_package::node_is_there()) {
      GTEST_SKIP() << "node or npm is not installed (scripts/deps.sh test installs them)";
    }
    static const auto failure = package().install();
    ASSERT_TRUE(failure.empty()) << failure;
    start_server();
    ASSERT_TRUE(eventually([&] { return !lines_of(server_output()).empty(); })) << content(server_output());
    start_proxy(static_cast<int>(lines_of(server_output())[0].at("port").as_int64()));
  }

  void start_server() {
    json::object settings;
    if (with_tls()) {
      behind_ = make_certificates(folder_, "backend.test", "backend");
      front_ = make_certificates(folder_, "proxy.test", "proxy");
      settings = {{"certificate", behind_.certificate}, {"key", behind_.key}};
    }
    server_ = child_process({"node", package().script("server.js"), json::serialize(settings)}, server_output());
  }

  void start_proxy(int port) {
    proxy_settings s;
    s.upstream = (with_tls() ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port);
    // a route that would be idempotent: upgrades are not
    s.routes = {"{name: echo, idempotency: {}}"};
    if (with_tls()) {
      s.upstream_more = "tls: {ca: \"" + behind_.ca + "\", server_name: backend.test}";
      s.server_more = "tls: {certificate: \"" + front_.certificate + "\", key: \"" + front_.key + "\"}";
    }
    proxy_ = std::make_unique<proxy_process>(s);
  }

  /// A conversation that is ended by `end`; what the client saw.
  json::object talk(const std::string& end) {
    json::object wanted{{"end", end}};
    if (with_tls()) wanted["ca"] = front_.ca, wanted["name"] = "proxy.test";
    const auto url = (with_tls() ? "wss://127.0.0.1:" : "ws://127.0.0.1:") + std::to_string(proxy_->port()) + "/echo";
    const auto output = folder_.path() / ("client-" + end);
    child_process client({"node", package().script("talk.js"), url, json::serialize(wanted)}, output.string());
    EXPECT_EQ(finish(client, 60s), 0) << content(output);
    const auto lines = lines_of(output);
    if (lines.size() != 1) {
      ADD_FAILURE() << "the client printed: " << content(output);
      return {};
    }
    return lines[0];
  }

  /// What the server says about the end of the only conversation.
  json::object server_saw() {
    EXPECT_TRUE(eventually([&] { return lines_of(server_output()).size() == 2; })) << content(server_output());
    const auto lines = lines_of(server_output());
    return lines.size() == 2 ? lines[1] : json::object();
  }

  /// Everything before the end went well.
  static json::object heard(int code, const std::string& reason) {
    auto all = parsed(R"({"protocol": "second", "text": true, "binary": true, "large": true,
                          "pong": "from the client", "ponged": "pong from the server"})");
    all["closed"] = code;
    all["reason"] = reason;
    return all;
  }

  std::string server_output() const { return (folder_.path() / "server").string(); }

  temporary_folder folder_;
  certificates front_, behind_;
  child_process server_;
  std::unique_ptr<proxy_process> proxy_;
};
INSTANTIATE_TEST_SUITE_P(over, websocket_client, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "tls" : "plain"; });

TEST_P(websocket_client, talks_to_a_server_and_its_close_code_reaches_it) {
  EXPECT_EQ(talk("client"), heard(4000, "enough"));
  EXPECT_EQ(server_saw(), parsed(R"({"closed": 4000, "reason": "enough"})"));
}

TEST_P(websocket_client, hears_the_close_code_of_a_server) {
  EXPECT_EQ(talk("server"), heard(4001, "as asked"));
  EXPECT_EQ(server_saw(), parsed(R"({"closed": 4001, "reason": "as asked"})"));
}

TEST_P(websocket_client, of_a_server_that_just_goes_away_is_not_left_waiting) {
  EXPECT_EQ(talk("drop"), heard(1006, ""));  // RFC 6455 §7.1.5: no close frame was received
}

}  // namespace
}  // namespace idem::test
