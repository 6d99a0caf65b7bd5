// The concrete executor and socket types of the program. any_io_executor costs a virtual call and an allocation on
// each operation; every object here belongs to the one thread that runs its io_context.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <ctime>

namespace idem::net {

namespace asio = boost::asio;
using boost::system::error_code;

using executor = asio::io_context::executor_type;
using timer = asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>;
/// TCP and unix sockets alike.
using socket = asio::basic_stream_socket<asio::generic::stream_protocol, executor>;

template <class T>
using task = asio::awaitable<T, executor>;

/// Time that goes on while the machine sleeps (CLOCK_BOOTTIME): leases must not be trusted after a suspension
/// (docs/protocol.md, "Before the first byte is sent").
struct lease_clock {
  using duration = std::chrono::milliseconds;
  using time_point = std::chrono::time_point<lease_clock, duration>;
  static time_point now() noexcept {
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return time_point(std::chrono::duration_cast<duration>(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec)));
  }
};

}  // namespace idem::net
