#include "app/file_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>

namespace idem::app {

namespace fs = std::filesystem;

namespace {

struct folder {
  std::set<std::string> names;
  bool holds_file = false;  ///< not only links and folders
};
using ways = std::map<std::string, folder>;

/// Adds every name that is looked up on the way to a file, in the folder where that is done.
void add_way(const fs::path& file, ways& all) {
  constexpr unsigned most_links = 40;  // as the kernel
  std::error_code ec;
  fs::path at = file.is_absolute() ? fs::path("/") : fs::current_path(ec);
  std::deque<fs::path> rest(file.begin(), file.end());
  unsigned links = 0;
  while (!rest.empty()) {
    const auto part = rest.front();
    rest.pop_front();
    if (part.empty() || part == "/" || part == ".") continue;
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    auto& here = all[at.string()];
    here.names.insert(part.string());
    const auto target = fs::read_symlink(at / part, ec);
    if (ec) {
      here.holds_file = here.holds_file || rest.empty();
      at /= part;
      continue;
    }
    if (++links > most_links) return;
    if (target.is_absolute()) at = "/";
    rest.insert(rest.begin(), target.begin(), target.end());
  }
}

}  // namespace

file_watch::file_watch(net::asio::io_context& io, std::function<void()> changed)
    : inotify_(io), changed_(std::move(changed)) {}

bool file_watch::open() {
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return false;
  inotify_.assign(fd);
  read_events();
  return true;
}

/// Folders, not files: a rename into place and the swap of a link are changes of the folder.
std::string file_watch::watch(const std::vector<std::string>& files) {
  if (!inotify_.is_open()) return {};
  ways all;
  for (const auto& f : files) add_way(f, all);
  std::map<int, std::set<std::string>> now;
  std::string unwatched;
  for (auto& [path, f] : all) {
    // in folders on the way, which can be as busy as /tmp, nobody asks what is written, or what may be read now
    const std::uint32_t written = f.holds_file ? IN_CLOSE_WRITE | IN_ATTRIB : 0;
    const int id = ::inotify_add_watch(inotify_.native_handle(), path.c_str(),
                                       written | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ONLYDIR);
    if (id >= 0) {
      now[id].merge(f.names);
    } else if (errno != ENOENT && errno != ENOTDIR) {  // the folder above tells when it is there
      unwatched = path;
    }
  }
  for (const auto& [id, names] : watched_) {
    if (!now.contains(id)) ::inotify_rm_watch(inotify_.native_handle(), id);
  }
  watched_ = std::move(now);
  return unwatched;
}

void file_watch::close() {
  net::error_code ignored;
  inotify_.close(ignored);
}

void file_watch::read_events() {
  inotify_.async_read_some(net::asio::buffer(events_), [this](const net::error_code& ec, std::size_t bytes) {
    if (ec) return;
    if (concerns_us(bytes)) changed_();
    read_events();
  });
}

bool file_watch::concerns_us(std::size_t bytes) const {
  inotify_event e;
  for (std::size_t at = 0; at + sizeof e <= bytes; at += sizeof e + e.len) {
    std::memcpy(&e, events_.data() + at, sizeof e);
    if ((e.mask & IN_Q_OVERFLOW) != 0) return true;
    const auto folder = watched_.find(e.wd);
    if (e.len == 0 || folder == watched_.end()) continue;
    if (folder->second.contains(events_.data() + at + sizeof e)) return true;
  }
  return false;
}

}  // namespace idem::app
