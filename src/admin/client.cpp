#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include "admin/address.hpp"
#include "admin/table.hpp"
#include "idem/admin/admin.hpp"

namespace idem::admin {
namespace {

namespace asio = net::asio;
namespace http = boost::beast::http;

constexpr auto time_limit = std::chrono::seconds(2);
constexpr auto tuple = net::as_result;

struct outcome {
  net::error_code ec;
  unsigned status = 0;
  std::string body;
};

net::task<void> connect(net::socket& socket, const std::vector<stream_endpoint>& endpoints, net::error_code& ec) {
  ec = asio::error::host_not_found;
  for (const auto& at : endpoints) {
    net::error_code ignored;
    socket.close(ignored);
    auto [connect_ec] = co_await socket.async_connect(at, tuple);
    ec = connect_ec;
    if (!ec) co_return;
  }
}

net::task<void> post(net::socket& socket, const std::vector<stream_endpoint>& endpoints, std::string host,
                     outcome& result) {
  co_await connect(socket, endpoints, result.ec);
  if (result.ec) co_return;
  http_request request(http::verb::post, "/drain", 11);
  request.set(http::field::host, host);
  request.keep_alive(false);
  request.prepare_payload();
  // a refusal may come before all was taken, so the answer is read even when writing failed
  co_await http::async_write(socket, request, tuple);
  boost::beast::flat_buffer buffer(64 * 1024);
  http::response_parser<http::string_body> parser;
  auto [read_ec, read] = co_await http::async_read(socket, buffer, parser, tuple);
  result.ec = read_ec;
  if (read_ec) co_return;
  result.status = parser.get().result_int();
  result.body = parser.get().body();
}

net::task<void> set_after(net::task<void> t, bool& done) {
  co_await t;
  done = true;
}

}  // namespace

int post_drain(const config::endpoint& address, std::string& message) {
  net::error_code ec;
  const auto endpoints = resolve(address, ec);
  if (ec) {
    message = "cannot look up " + address.text + ": " + ec.message();
    return 1;
  }
  asio::io_context io(1);
  net::socket socket(io.get_executor());
  outcome result;
  bool done = false;
  net::spawn(io.get_executor(),
             set_after(post(socket, endpoints, address.is_unix() ? "localhost" : address.text, result), done),
             [&](const std::exception_ptr&) { done = true; });
  io.run_for(time_limit);
  if (!done) {
    message = "no answer from " + address.text + " within 2 s";
  } else if (result.ec) {
    message = "cannot reach the admin listener on " + address.text + ": " + result.ec.message();
  } else if (result.status / 100 != 2) {
    message = address.text + " answered " + std::to_string(result.status) + ": " +
              result.body.substr(0, result.body.find('\n'));
  } else {
    message = "draining";
    return 0;
  }
  return 1;
}

}  // namespace idem::admin
