// The PROXY protocol's header, the first bytes of a connection behind a load balancer.
//
// No more is asked for than a header may have, and its end is where its own form says. An address is in its one form
// and of the family that the header names, and written anew, in either version, it is read back.
#include <boost/asio/ip/address.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/check.hpp"
#include "proxy/proxy_protocol.hpp"

namespace {

using boost::asio::ip::address;
using idem::fuzz::check;
using idem::proxy::parse_proxy_header;
using idem::proxy::proxy_header;

constexpr std::string_view signature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t longest = 16 + 4096;

/// Of as many bytes as are asked for, as a connection reads them; nothing where there are fewer. `header` is a view
/// into what was given.
struct reading {
  std::string address;
  std::string_view header;
};
std::optional<reading> read(std::string_view bytes) {
  for (std::size_t have = 0;;) {
    const idem::fuzz::exact_copy copy(bytes.substr(0, have));
    const proxy_header h = parse_proxy_header(copy.view());
    if (h.type == proxy_header::kind::invalid) return std::nullopt;
    if (h.type == proxy_header::kind::found) return reading{h.address, bytes.substr(0, have)};
    check(h.need > have && h.need <= longest, "what is asked for is more than there is, and within a header");
    if (h.need > bytes.size()) return std::nullopt;
    have = h.need;
  }
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    words.push_back(line.substr(0, line.find(' ')));
    if (words.back().size() == line.size()) return words;
    line.remove_prefix(words.back().size() + 1);
  }
}

bool is_address(std::string_view text, bool six) {
  if (text.find('\0') != text.npos || text.find('%') != text.npos) return false;
  boost::system::error_code ec;
  const auto a = boost::asio::ip::make_address(std::string(text), ec);
  return !ec && a.is_v6() == six;
}

bool is_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != text.npos) return false;
  const auto number = std::stoul(std::string(text));
  return number <= 65535 && std::to_string(number) == text;
}

void check_line(const reading& r) {
  check(r.header.find("\r\n") == r.header.size() - 2 && r.header.size() <= 107, "a header of version 1 is one line");
  const auto words = words_of(r.header.substr(0, r.header.size() - 2));
  if (words[1] == "UNKNOWN") return check(r.address.empty(), "who is unknown has no address");
  check(words.size() == 6 && (words[1] == "TCP4" || words[1] == "TCP6"), "a line has its six words");
  const bool six = words[1] == "TCP6";
  check(is_address(words[2], six) && is_address(words[3], six), "both addresses are of the family that is named");
  check(is_port(words[4]) && is_port(words[5]), "both ports are numbers of ports");
  check(six || words[2] == r.address, "an address of version 4 has one form");
}

void check_block(const reading& r) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(r.header[i]); };
  check(r.header.size() == 16u + at(14) * 256u + at(15), "a header of version 2 ends where its length says");
  if (r.address.empty()) return;
  check(at(12) == 0x21, "only a proxied connection has an address");
  check(is_address(r.address, at(13) >> 4 == 2), "the address is of the family that is named");
}

std::string line_of(const address& a) {
  const bool six = a.is_v6();
  return std::string("PROXY ") + (six ? "TCP6 " : "TCP4 ") + a.to_string() + (six ? " ::1" : " 127.0.0.1") +
         " 1 65535\r\n";
}

std::string block_of(const address& a) {
  std::string raw;
  if (a.is_v6())
    for (const auto c : a.to_v6().to_bytes()) raw += static_cast<char>(c);
  else
    for (const auto c : a.to_v4().to_bytes()) raw += static_cast<char>(c);
  raw += std::string(raw.size() + 4, '\1');
  const char head[] = {0x21, static_cast<char>(a.is_v6() ? 0x21 : 0x11), 0, static_cast<char>(raw.size())};
  return std::string(signature).append(head, 4) + raw;
}

void check_written_again(const std::string& text) {
  const auto a = boost::asio::ip::make_address(text);
  check(a.to_string() == text, "an address is in its one form");
  for (const std::string& header : {line_of(a), block_of(a)}) {
    const std::string sent = header + "GET / HTTP/1.1\r\n";
    const auto again = read(sent);
    check(again && again->address == text && again->header == header, "an address that is written anew is read back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto found = read(bytes);
  if (!found) return 0;
  if (bytes.starts_with(signature))
    check_block(*found);
  else
    check_line(*found);
  if (!found->address.empty()) check_written_again(found->address);
  return 0;
}
