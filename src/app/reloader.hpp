// Takes up a changed configuration: on SIGHUP, and when the file is written or replaced, or a link or a folder on the
// way to it (a ConfigMap's `..data` link is one). The new file is read and checked whole; a bad one changes nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/configuration_files.hpp"
#include "app/file_watch.hpp"
#include "idem/config/config.hpp"
#include "idem/net/types.hpp"

namespace idem::app {

/// Lives on the main thread.
class reloader {
 public:
  /// Returns why the configuration cannot be used after all, or an empty string.
  using adopt_hook = std::function<std::string(std::shared_ptr<const config::snapshot>)>;
  using result_hook = std::function<void(bool good)>;

  /// `started` is what the process began with.
  reloader(net::asio::io_context& io, std::string file, const reading& started, adopt_hook adopt, result_hook result);

  /// Begins to watch the file, and the certificates, keys and secrets that it names.
  void watch();
  void reload(std::string_view cause);
  /// The process ends, on another thread: from now on nothing is taken up.
  void stop();

 private:
  void something_changed();
  void watch_ways_to(const std::vector<std::string>& files);
  void refuse(std::string_view cause);
  void warn_of_restarts(const config::snapshot& next) const;
  void warn_of_identity(const config::snapshot& next) const;

  std::string file_;
  const std::shared_ptr<const config::snapshot> started_;  ///< what listens and what stores go by until the end
  std::shared_ptr<const config::snapshot> current_;
  adopt_hook adopt_;
  result_hook result_;
  file_watch files_;
  std::string unwatched_;  ///< the folder that was warned of
  net::timer settle_;
  bool stopped_ = false;
  file_digests seen_;  ///< of what was last read
};

}  // namespace idem::app
