// Takes up a changed configuration: on SIGHUP, when the file is written or replaced, and when a ConfigMap's `..data`
// link is swapped. The new file is read and checked whole; a bad one changes nothing.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "idem/config/config.hpp"
#include "idem/net/types.hpp"

namespace idem::app {

/// Lives on the main thread.
class reloader {
 public:
  using adopt_hook = std::function<void(std::shared_ptr<const config::snapshot>)>;
  using result_hook = std::function<void(bool good)>;

  reloader(net::asio::io_context& io, std::string file, std::shared_ptr<const config::snapshot> current,
           adopt_hook adopt, result_hook result);

  /// Begins to watch the file's directory, and those of the certificates that it names.
  void watch();
  void reload(std::string_view cause);
  /// The process ends, on another thread: from now on nothing is taken up.
  void stop();

 private:
  void read_events();
  void watch_directories();
  std::string contents() const;
  void warn_of_restarts(const config::snapshot& next) const;
  void warn_of_identity(const config::snapshot& next) const;

  std::string file_;
  const std::shared_ptr<const config::snapshot> started_;  ///< what listens and what stores go by until the end
  std::shared_ptr<const config::snapshot> current_;
  adopt_hook adopt_;
  result_hook result_;
  net::asio::posix::basic_stream_descriptor<net::executor> inotify_;
  net::timer settle_;
  bool stopped_ = false;
  std::string seen_;  ///< what the files held when they were last taken up
  std::array<char, 4096> events_{};
};

}  // namespace idem::app
