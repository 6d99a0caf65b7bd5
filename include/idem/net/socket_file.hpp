// The file of a unix socket: who listens makes it, and it stays when he is gone unless somebody removes it.
#pragma once

#include <sys/types.h>

#include <string>

namespace idem::net {

/// Before an address is bound: removes the file of a socket that nobody listens on any more, as a process leaves it
/// that was killed. Everything else stays, and binding fails.
void remove_left_over_socket(const std::string& path);

/// The file that a socket of this process was bound to. Its destructor removes it unless another one stands there by
/// now. It has to go before that socket is closed: until then nobody else can come to the path, and no other file can
/// have its number.
class socket_file {
 public:
  /// Directly after the address was bound.
  explicit socket_file(std::string path);
  ~socket_file();
  socket_file(socket_file&& other) noexcept;
  socket_file& operator=(socket_file&& other) noexcept;

 private:
  void remove();

  std::string path_;  ///< empty: none
  dev_t device_ = 0;
  ino_t number_ = 0;
};

}  // namespace idem::net
