#include "proxy/proxy_protocol.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cstdint>

#include "idem/text/decimal.hpp"

namespace idem::proxy {

namespace {

constexpr std::string_view signature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t v2_head = 16;
constexpr std::size_t v1_longest = 107;
constexpr std::size_t v2_longest = 4096;  ///< addresses and what may follow them

proxy_header need(std::size_t n) { return {proxy_header::kind::need, n, {}}; }
proxy_header found(std::string address) { return {proxy_header::kind::found, 0, std::move(address)}; }

/// The address in its one form; empty if it is none of that family. One with a zone says nothing outside of its host.
std::string canonical(std::string_view text, bool six) {
  if (text.find_first_of(std::string_view("%\0", 2)) != std::string_view::npos) return {};
  boost::system::error_code ec;
  const auto address = boost::asio::ip::make_address(std::string(text), ec);
  return ec || address.is_v6() != six ? std::string{} : address.to_string();
}

bool is_port(std::string_view text) { return text::parse_strict_decimal<std::uint16_t>(text).has_value(); }

/// Cuts a word and the space behind it off the front.
std::string_view take_word(std::string_view& line) {
  const auto word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
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
  const bool six = line.starts_with("TCP6 ");
  if (!six && !line.starts_with("TCP4 ")) return {};
  line.remove_prefix(5);
  auto source = canonical(take_word(line), six);
  const bool complete = !canonical(take_word(line), six).empty() && is_port(take_word(line)) && is_port(line);
  if (source.empty() || !complete) return {};
  return found(std::move(source));
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
