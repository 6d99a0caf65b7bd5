// The concrete executor and socket types of the program. any_io_executor costs a virtual call and an allocation on
// each operation; every object here belongs to the one thread that runs its io_context.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

#include "idem/net/lease_clock.hpp"
#include "idem/net/task.hpp"

namespace idem::net {

using boost::system::error_code;

using timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>;
/// TCP and unix sockets alike.
using socket = asio::basic_stream_socket<asio::generic::stream_protocol, executor>;
using acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol, executor>;

}  // namespace idem::net
