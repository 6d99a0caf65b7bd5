// Takes up a changed configuration: on SIGHUP, and when the file is written or replaced, or a link or a folder on the
// way to it (a ConfigMap's `..data` link is one). The new file is read and checked whole; a bad one changes nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/file_watch.hpp"
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

  /// Begins to watch the file, and the certificates, keys and secrets that it names.
  void watch();
  void reload(std::string_view cause);
  /// The process ends, on another thread: from now on nothing is taken up.
  void stop();

 private:
  void something_changed();
  std::string contents() const;
  void warn_of_restarts(const config::snapshot& next) const;
  void warn_of_identity(const config::snapshot& next) const;

  std::string file_;
  const std::shared_ptr<const config::snapshot> started_;  ///< what listens and what stores go by until the end
  std::shared_ptr<const config::snapshot> current_;
  adopt_hook adopt_;
  result_hook result_;
  file_watch files_;
  net::timer settle_;
  bool stopped_ = false;
  std::string seen_;  ///< what the files held when they were last taken up
};

}  // namespace idem::app
