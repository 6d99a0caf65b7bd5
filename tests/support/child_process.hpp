// A program that a test starts, and ends by its pid at the latest when the object goes, or when the thread that started
// it ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace idem::test {

class child_process {
 public:
  child_process() = default;
  /// Starts `arguments[0]` (looked up in PATH). Output and errors go to `output_file`, or nowhere when it is empty.
  explicit child_process(const std::vector<std::string>& arguments, const std::string& output_file = {});
  ~child_process();
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&& other) noexcept;

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int number) const;
  /// SIGTERM (or another signal), and SIGKILL if it still runs after `limit`. Returns the exit status, or minus the
  /// number of the signal that ended it; 0 if nothing ran.
  int stop(int number = 15, std::chrono::milliseconds limit = std::chrono::seconds(10));

 private:
  bool reap(bool wait);

  pid_t pid_ = 0;
  int status_ = 0;
};

/// Exit status, or nothing if it still runs after `limit`.
std::optional<int> finish(child_process& process, std::chrono::milliseconds limit = std::chrono::seconds(10));
/// Whether that program runs and exits with zero.
bool succeeds(const std::vector<std::string>& arguments);

}  // namespace idem::test
