#include "telemetry/stderr_sink.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace idem::telemetry {
namespace {

/// Whether it is worth to try again. Others who share standard error may have made it non-blocking.
bool wait_after(int error) {
  if (error == EINTR) return true;
  if (error != EAGAIN) return false;
  pollfd writable{STDERR_FILENO, POLLOUT, 0};
  return ::poll(&writable, 1, -1) > 0 || errno == EINTR;
}

}  // namespace

void stderr_sink::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t text;
  formatter_->format(message, text);
  for (std::string_view rest(text.data(), text.size()); !rest.empty();) {
    const auto written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (!wait_after(errno)) {
      return;
    }
  }
}

}  // namespace idem::telemetry
