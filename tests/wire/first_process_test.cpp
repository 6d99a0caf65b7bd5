// The program as a container runs it: the first process of a PID namespace, without root's rights. The kernel drops
// signals to such a process that it has no handler for.
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "wire/wire.hpp"

namespace idem::test {
namespace {

/// A command in front of the program; empty if this machine does not allow it.
std::string container() {
  const std::string unshare = "unshare --pid --fork --kill-child --mount-proc";
  // the signal of --kill-child is lost with the change of the user
  const std::string as_image =
      " setpriv --reuid=65532 --regid=65532 --clear-groups --no-new-privs --bounding-set=-all --pdeathsig KILL";
  const std::string prefix = ::geteuid() == 0 ? unshare + as_image : unshare + " --user --map-current-user";
  return succeeds({"sh", "-c", prefix + " '" IDEM_BINARY "' version"}) ? prefix : std::string();
}

/// The value of a line of /proc/PID/status.
std::string status_of(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  return {};
}

pid_t only_child(pid_t of) {
  const auto id = std::to_string(of);
  pid_t child = 0;
  std::ifstream("/proc/" + id + "/task/" + id + "/children") >> child;
  return child;
}

class as_the_first_process : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const auto prefix = container();
    if (prefix.empty()) GTEST_SKIP() << "unshare or setpriv is not permitted here, or cannot run " IDEM_BINARY;
    const auto program = folder.write("proxy", "#!/bin/sh\nchmod 755 \"$(dirname \"$3\")\"; chmod 644 \"$3\"\nexec " +
                                                   prefix + " '" IDEM_BINARY "' \"$@\"\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    proxy_settings settings;
    settings.upstream = backend.url();
    settings.binary = program;
    proxy = std::make_unique<proxy_process>(settings);
    first = only_child(proxy->pid());
    ASSERT_GT(first, 0);
  }
  void TearDown() override {
    if (first > 0 && HasFailure()) ::kill(first, SIGKILL);
  }

  temporary_folder folder;
  host backend;
  std::unique_ptr<proxy_process> proxy;
  pid_t first = 0;
};
INSTANTIATE_TEST_SUITE_P(by, as_the_first_process, ::testing::Values(SIGTERM, SIGINT),
                         [](const auto& p) { return p.param == SIGTERM ? "sigterm" : "sigint"; });

TEST_P(as_the_first_process, without_rights_it_drains_and_exits_with_zero) {
  EXPECT_TRUE(status_of(first, "NSpid").ends_with("\t1")) << status_of(first, "NSpid");
  EXPECT_EQ(status_of(first, "CapEff").find_first_not_of('0'), std::string::npos) << "no capabilities";
  if (::geteuid() == 0) EXPECT_TRUE(status_of(first, "Uid").starts_with("65532\t65532\t"));
  auto c = peer::connect(proxy->port());
  c.send(plain_get);
  auto b = backend.accept();
  EXPECT_EQ(b.read(plain_get.size()), plain_get);
  ASSERT_EQ(::kill(first, GetParam()), 0);
  ASSERT_TRUE(eventually([&] { return !peer::connect(proxy->port()).open(); })) << "the signal counts";
  b.send(plain_ok);
  EXPECT_TRUE(c.rest().starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(c.ended(), peer::end::clean);
  EXPECT_EQ(proxy->wait_for_exit(5s), 0);
}

}  // namespace
}  // namespace idem::test
