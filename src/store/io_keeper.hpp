// Ties the life of an object to an io_context that it runs on.
#pragma once

#include <memory>

#include "idem/net/types.hpp"

namespace idem::store {

/// The io_context holds `object` until it is destroyed, and lets go of it before its own timers and sockets are gone. A
/// store that outlives the io_context keeps a weak pointer, and so cannot reach an io_context that is no more.
void keep_with(net::asio::io_context& io, std::shared_ptr<void> object);

}  // namespace idem::store
