// What somebody beside an exchange sees of a request that passes. Seeing changes nothing: what is called here neither
// waits nor fails.
#pragma once

#include <string_view>

namespace idem::proxy {

class request_tap {
 public:
  virtual ~request_tap() = default;

  /// A piece of the body, out of its transfer coding, on its way to the backend. The view ends with the call.
  virtual void data(std::string_view piece) = 0;
  /// All of the request is whole, and the kernel has it. Never called for one that was cut.
  virtual void sent() = 0;
  /// The backend has agreed to an upgrade: there will be no answer. sent() may still follow.
  virtual void tunnels() = 0;
};

}  // namespace idem::proxy
