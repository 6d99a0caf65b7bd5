#include "proxy/proxy_protocol.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::string_literals;
using idem::proxy::parse_proxy_header;
using idem::proxy::proxy_header;
using kind = idem::proxy::proxy_header::kind;

/// Feeds as many bytes as are asked for, as the reader does.
proxy_header whole(const std::string& bytes) {
  std::size_t have = 0;
  for (;;) {
    auto h = parse_proxy_header(std::string_view(bytes).substr(0, have));
    if (h.type != kind::need) {
      h.need = have;
      return h;
    }
    EXPECT_GT(h.need, have);
    if (h.need > bytes.size()) return h;
    have = h.need;
  }
}

std::string v2(unsigned char command, unsigned char family, const std::string& data) {
  std::string s = "\r\n\r\n\0\r\nQUIT\n"s;
  s += static_cast<char>(0x20 | command);
  s += static_cast<char>(family);
  s += static_cast<char>(data.size() >> 8);
  s += static_cast<char>(data.size() & 0xff);
  return s + data;
}

TEST(a_proxy_header_of_version_1, names_the_client_and_ends_at_its_line) {
  const auto text = "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n"s;
  const auto h = whole(text + "GET / HTTP/1.1\r\n");
  EXPECT_EQ(h.type, kind::found);
  EXPECT_EQ(h.address, "192.0.2.7");
  EXPECT_EQ(h.need, text.size());
  EXPECT_EQ(whole("PROXY TCP6 2001:db8::7 2001:db8::1 4711 443\r\n").address, "2001:db8::7");
}

TEST(a_proxy_header_of_version_1, may_say_that_the_client_is_unknown) {
  const auto h = whole("PROXY UNKNOWN\r\n");
  EXPECT_EQ(h.type, kind::found);
  EXPECT_EQ(h.address, "");
}

TEST(a_proxy_header_of_version_1, that_breaks_its_form_is_refused) {
  for (const auto& rest : {"192.0.2.7"s, "192.0.2.7 198.51.100.1 1"s, "192.0.2.7 198.51.100.1 1 2 3"s,
                           "192.0.2.7 198.51.100.1 1 2 "s, "192.0.2.7  198.51.100.1 1 2"s, "nonsense 198.51.100.1 1 2"s,
                           "192.0.2.7 nonsense 1 2"s, "192.0.2.7\0x 198.51.100.1 1 2"s})
    EXPECT_EQ(whole("PROXY TCP4 " + rest + "\r\n").type, kind::invalid) << rest;
  EXPECT_EQ(whole("PROXY UDP4 192.0.2.7 198.51.100.1 1 2\r\n").type, kind::invalid);
  EXPECT_EQ(whole("PROXY TCP4 192.0.2.7 198.51.100.1 1 2\n").type, kind::invalid);
  EXPECT_EQ(whole("PROXY TCP4 " + std::string(200, '1')).type, kind::invalid);
}

TEST(a_proxy_header_of_version_1, has_addresses_of_the_family_that_it_names_and_without_a_zone) {
  for (const auto* line : {"TCP4 2001:db8::7 2001:db8::1 1 2", "TCP6 192.0.2.7 198.51.100.1 1 2",
                           "TCP6 2001:db8::7 198.51.100.1 1 2", "TCP6 fe80::7%1 fe80::1 1 2"})
    EXPECT_EQ(whole(std::string("PROXY ") + line + "\r\n").type, kind::invalid) << line;
}

TEST(a_proxy_header_of_version_1, has_two_ports) {
  const auto ports = [](const std::string& text) {
    return whole("PROXY TCP4 192.0.2.7 198.51.100.1 " + text + "\r\n").type;
  };
  EXPECT_EQ(ports("0 65535"), kind::found);
  for (const auto* text : {"1 65536", "1 02", "x 2", "1 -2", "1 2x"}) EXPECT_EQ(ports(text), kind::invalid) << text;
}

TEST(a_proxy_header_of_version_2, names_the_client_of_either_family) {
  const auto four = v2(1, 0x11, "\xc0\x00\x02\x07\xc6\x33\x64\x01\x12\x67\x01\xbb"s);
  auto h = whole(four + "more");
  EXPECT_EQ(h.type, kind::found);
  EXPECT_EQ(h.address, "192.0.2.7");
  EXPECT_EQ(h.need, four.size());
  const auto six = v2(1, 0x21, std::string(15, '\0') + "\x01"s + std::string(20, '\0') + "tlv");
  EXPECT_EQ(whole(six).address, "::1");
}

TEST(a_proxy_header_of_version_2, of_the_balancer_itself_names_nobody) {
  const auto h = whole(v2(0, 0, ""));
  EXPECT_EQ(h.type, kind::found);
  EXPECT_EQ(h.address, "");
}

TEST(a_proxy_header_of_version_2, that_breaks_its_form_is_refused) {
  EXPECT_EQ(whole(v2(5, 0x11, std::string(12, 'x'))).type, kind::invalid);
  EXPECT_EQ(whole(v2(1, 0x11, "short")).type, kind::invalid);
  auto third = v2(1, 0x11, std::string(12, 'x'));
  third[12] = '\x31';
  EXPECT_EQ(whole(third).type, kind::invalid);
}

TEST(bytes_without_a_proxy_header, are_refused) { EXPECT_EQ(whole("GET / HTTP/1.1\r\n\r\n").type, kind::invalid); }

}  // namespace
