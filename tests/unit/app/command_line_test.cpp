// What the command line refuses is told in words that help.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "idem/app/app.hpp"
#include "support/temporary_folder.hpp"

namespace idem::app {
namespace {

/// The exit code, and what went to standard error.
std::pair<int, std::string> run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "idempotency-proxy");
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  testing::internal::CaptureStderr();
  const int code = main(static_cast<int>(argv.size()), argv.data());
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(command_line, takes_no_rate_of_keys_that_is_none) {
  for (const char* rate : {"0", "-1", "abc", "", "5x", "nan", "inf", "1e300"}) {
    const auto [code, text] = run({"check", "--config", "none.yaml", std::string("--rps=") + rate});
    EXPECT_EQ(code, 2) << rate;
    EXPECT_TRUE(text.starts_with("--rps: ")) << rate << ": " << text;
    EXPECT_LT(text.size(), 150u) << text;
  }
  EXPECT_EQ(run({"check", "--config", "none.yaml", "--rps", "0.5"}).first, 1) << "there is no such file";
}

TEST(check, explains_what_a_refreshed_token_is_to_a_scope_of_credentials) {
  const test::temporary_folder folder;
  const auto told = [&](const std::string& routes) {
    const auto file = folder.write("f.yaml", "upstream: {url: \"http://127.0.0.1:3000\"}\nroutes: [" + routes + "]\n");
    testing::internal::CaptureStdout();
    EXPECT_EQ(run({"check", "--config", file}).first, 0);
    return testing::internal::GetCapturedStdout();
  };
  const auto text = told(
      "{name: a, match: {path: /a}}, {name: b, match: {path: /b}, idempotency: {scope: [\"const:b\"]}}, "
      "{name: c, match: {path: /c}, idempotency: {scope: [\"const:c\", credential]}}, "
      "{name: d, idempotency: {mode: off}}");
  EXPECT_NE(
      text.find("\na, c: callers are told apart by Authorization and X-Api-Key; a retry with a refreshed token is "
                "another caller's and executes again\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(told("{name: b, idempotency: {scope: [\"const:b\"]}}").find("refreshed"), std::string::npos);
}

TEST(command_line, takes_no_admin_address_that_is_none) {
  for (const char* address :
       {"", "9911", ":9911", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "[]:1", "unix:", "http://127.0.0.1:9911"}) {
    const auto [code, text] = run({"drain", "--admin", address});
    EXPECT_EQ(code, 2) << address;
    EXPECT_NE(text.find("expected host:port, [v6]:port or unix:/path"), std::string::npos) << text;
  }
}

TEST(command_line, takes_no_reason_that_says_nothing) {
  const test::temporary_folder folder;
  const auto file = folder.write("f.yaml", "upstream: {url: \"http://127.0.0.1:3000\"}\nroutes: [{name: api}]\n");
  for (const char* reason : {"", " "}) {
    const auto [code, text] =
        run({"key", "release", "--config", file, "--route", "api", "--key", "k", "--reason", reason});
    EXPECT_EQ(code, 1);
    EXPECT_NE(text.find("--reason: expected"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace idem::app
