#include "support/child_process.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "support/eventually.hpp"

namespace idem::test {

child_process::child_process(const std::vector<std::string>& arguments, const std::string& output_file) {
  std::vector<char*> argv;
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const char* out = output_file.empty() ? "/dev/null" : output_file.c_str();
  const auto parent = ::getpid();

  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  // a test that crashes must not leave its servers behind
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int fd = ::open(out, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd >= 0) {
    ::dup2(fd, 1);
    ::dup2(fd, 2);
  }
  // an inherited socket would keep a connection open that the test has closed
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

child_process::~child_process() { stop(SIGKILL); }

child_process::child_process(child_process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), status_(other.status_) {}

child_process& child_process::operator=(child_process&& other) noexcept {
  if (this != &other) {
    stop(SIGKILL);
    pid_ = std::exchange(other.pid_, 0);
    status_ = other.status_;
  }
  return *this;
}

bool child_process::reap(bool wait) {
  if (pid_ == 0) return true;
  int status = 0;
  if (::waitpid(pid_, &status, wait ? 0 : WNOHANG) != pid_) return false;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  pid_ = 0;
  return true;
}

bool child_process::running() { return !reap(false); }

void child_process::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

int child_process::stop(int number, std::chrono::milliseconds limit) {
  if (pid_ == 0) return status_;
  signal(number);
  signal(SIGCONT);
  if (!eventually([&] { return reap(false); }, limit)) {
    signal(SIGKILL);
    reap(true);
  }
  return status_;
}

std::optional<int> finish(child_process& process, std::chrono::milliseconds limit) {
  if (!eventually([&] { return !process.running(); }, limit)) return std::nullopt;
  return process.stop();
}

bool succeeds(const std::vector<std::string>& arguments) {
  child_process process(arguments);
  return finish(process) == 0;
}

}  // namespace idem::test
