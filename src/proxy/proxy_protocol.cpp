#include "proxy/proxy_protocol.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>

namespace idem::proxy {

namespace {

constexpr std::string_view signature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t v2_head = 16;
constexpr std::size_t v1_longest = 107;
constexpr std::size_t v2_longest = 4096;  ///< addresses and what may follow them

proxy_header need(std::size_t n) { return {proxy_header::kind::need, n, {}}; }
proxy_header found(std::string address) { return {proxy_header::kind::found, 0, std::move(address)}; }

std::string canonical(std::string_view text) {
  boost::system::error_code ec;
  const auto address = boost::asio::ip::make_address(std::string(text), ec);
  return ec ? std::string{} : address.to_string();
}

/// `PROXY TCP4 source destination sport dport\r\n`, or `PROXY UNKNOWN …\r\n`.
proxy_header parse_v1(std::string_view bytes) {
  if (!bytes.ends_with("\r\n")) {
    if (bytes.size() >= v1_longest || bytes.find('\n') != std::string_view::npos) return {};
    return need(bytes.size() + 1);
  }
  auto line = bytes.substr(0, bytes.size() - 2);
  line.remove_prefix(std::string_view("PROXY ").size());
  if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return found({});
  if (!line.starts_with("TCP4 ") && !line.starts_with("TCP6 ")) return {};
  line.remove_prefix(5);
  if (std::count(line.begin(), line.end(), ' ') != 3) return {};
  auto address = canonical(line.substr(0, line.find(' ')));
  if (address.empty()) return {};
  return found(std::move(address));
}

proxy_header parse_v2(std::string_view bytes) {
  if (bytes.size() < v2_head) return need(v2_head);
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto command = at(12), family = at(13);
  const std::size_t size = (std::size_t{at(14)} << 8) | at(15);
  if ((command >> 4) != 2 || (command & 0xf) > 1 || size > v2_longest) return {};
  if (bytes.size() < v2_head + size) return need(v2_head + size);
  if ((command & 0xf) == 0) return found({});  // LOCAL: a health check of the balancer itself
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data()) + v2_head;
  if ((family >> 4) == 1 && size >= 12) {
    boost::asio::ip::address_v4::bytes_type raw;
    std::copy_n(data, raw.size(), raw.begin());
    return found(boost::asio::ip::address_v4(raw).to_string());
  }
  if ((family >> 4) == 2 && size >= 36) {
    boost::asio::ip::address_v6::bytes_type raw;
    std::copy_n(data, raw.size(), raw.begin());
    return found(boost::asio::ip::address_v6(raw).to_string());
  }
  if ((family >> 4) == 0 || (family >> 4) == 3) return found({});
  return {};
}

}  // namespace

proxy_header parse_proxy_header(std::string_view bytes) {
  if (bytes.size() < signature.size()) return need(signature.size());
  if (bytes.starts_with(signature)) return parse_v2(bytes);
  if (bytes.starts_with("PROXY ")) return parse_v1(bytes);
  return {};
}

net::task<bool> read_proxy_header(net::stream& stream, std::string& peer) {
  std::string bytes;
  for (;;) {
    auto header = parse_proxy_header(bytes);
    if (header.type == proxy_header::kind::invalid) co_return false;
    if (header.type == proxy_header::kind::found) {
      if (!header.address.empty()) peer = std::move(header.address);
      co_return true;
    }
    while (bytes.size() < header.need) {
      const auto have = bytes.size();
      bytes.resize(header.need);
      auto [ec, n] = co_await stream.read_some(net::asio::buffer(bytes.data() + have, header.need - have));
      if (ec) co_return false;
      bytes.resize(have + n);
    }
  }
}

}  // namespace idem::proxy
