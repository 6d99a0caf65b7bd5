// Notices when a path can mean another file, or its file another content: the file is written or replaced, a link on
// the way to it is set anew, or a folder on the way is swapped.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "idem/net/types.hpp"

namespace idem::app {

/// Lives on the thread of the io_context. Tells that something changed, perhaps several times for one change and
/// perhaps for none; who is told looks for himself, and calls watch() again, since the way may be another now.
class file_watch {
 public:
  file_watch(net::asio::io_context& io, std::function<void()> changed);

  /// False: the system gives no watches.
  bool open();
  /// Watches the ways to these files in place of those from before. Nothing happens before open().
  /// @return a folder in which changes will not be noticed, if there is one: watches are few, and taken for each user
  std::string watch(const std::vector<std::string>& files);
  void close();

 private:
  void read_events();
  bool concerns_us(std::size_t bytes) const;

  net::asio::posix::basic_stream_descriptor<net::executor> inotify_;
  std::function<void()> changed_;
  std::map<int, std::set<std::string>> watched_;  ///< the names that count, by the watch of their folder
  std::array<char, 4096> events_{};
};

}  // namespace idem::app
