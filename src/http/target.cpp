#include "http/target.hpp"
#include "idem/text/hex.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace idem::http {
namespace {

consteval std::array<bool, 256> host_table() {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 128; ++c) table[c] = text::is_alnum(static_cast<char>(c));
  for (char c : std::string_view("-._~!$&'()*+;=")) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr auto host_chars = host_table();

bool valid_name(std::string_view name) {
  std::size_t i = 0;
  while (i < name.size()) {
    if (host_chars[static_cast<unsigned char>(name[i])]) {
      ++i;
    } else if (name[i] == '%' && i + 2 < name.size() && text::hex_value(name[i + 1]) >= 0 &&
               text::hex_value(name[i + 2]) >= 0) {
      i += 3;
    } else {
      return false;
    }
  }
  return !name.empty();
}

bool valid_ipv6(std::string_view address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.size() >= text.size()) return false;
  std::copy(address.begin(), address.end(), text.begin());
  in6_addr binary;
  return inet_pton(AF_INET6, text.data(), &binary) == 1;
}

bool valid_port(std::string_view port) {
  unsigned n = 0;
  for (char c : port) {
    if (!text::is_digit(c)) return false;
    n = n * 10 + static_cast<unsigned>(c - '0');
    if (n > 65535) return false;
  }
  return true;
}

bool has_forbidden_byte(std::string_view target) {
  bool bad = false;
  for (char c : target) bad |= c == '#' || static_cast<unsigned char>(c) >= 0x80;
  return bad;
}

std::size_t scheme_size(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text::istarts_with(target, scheme)) return scheme.size();
  }
  return 0;
}

void split_query(request_head& head, std::string_view path_and_query) {
  const std::size_t mark = path_and_query.find('?');
  head.has_query = mark != std::string_view::npos;
  head.path = path_and_query.substr(0, mark);
  head.query = head.has_query ? path_and_query.substr(mark + 1) : std::string_view();
}

std::string_view split_absolute(request_head& head, std::size_t scheme) {
  const std::size_t end = std::min(head.target.find_first_of("/?", scheme), head.target.size());
  head.absolute_form = true;
  head.authority = head.target.substr(scheme, end - scheme);
  if (!valid_authority(head.authority)) return "the target's authority is malformed";
  split_query(head, head.target.substr(end));
  // RFC 9112 §3.2.1: an empty path goes on as a slash. §3.2.4: OPTIONS for a whole server, said in absolute form
  if (head.path.empty()) head.path = head.method == "OPTIONS" && !head.has_query ? "*" : "/";
  return {};
}

}  // namespace

bool valid_authority(std::string_view authority) {
  std::string_view host = authority;
  std::string_view rest;
  const bool literal = !authority.empty() && authority.front() == '[';
  const std::size_t end = literal ? authority.find(']') : authority.find(':');
  if (literal) {
    if (end == std::string_view::npos) return false;
    host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
  } else if (end != std::string_view::npos) {
    host = authority.substr(0, end);
    rest = authority.substr(end);
  }
  if (!rest.empty() && (rest.front() != ':' || !valid_port(rest.substr(1)))) return false;
  return literal ? valid_ipv6(host) : valid_name(host);
}

std::string_view split_target(request_head& head) {
  head.absolute_form = false;
  head.authority = {};
  if (has_forbidden_byte(head.target)) return "the target holds a fragment or a byte outside of ASCII";
  if (head.target.front() == '/') {
    split_query(head, head.target);
    return {};
  }
  if (const std::size_t scheme = scheme_size(head.target)) return split_absolute(head, scheme);
  if (head.target == "*" && head.method == "OPTIONS") {
    split_query(head, head.target);
    return {};
  }
  return head.target == "*" ? "an asterisk is a target of OPTIONS only" : "the target is neither a path nor a URL";
}

}  // namespace idem::http
