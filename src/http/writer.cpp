#include "idem/http/writer.hpp"
#include "idem/text/decimal.hpp"
#include "idem/text/field_syntax.hpp"

#include <algorithm>

namespace idem::http {

bool valid_field(std::string_view name, std::string_view value) {
  return text::is_token(name) && text::is_one_line(value);
}

bool append_status_line(std::string& out, unsigned status, std::string_view reason) {
  if (status < 100 || status > 599 || !text::is_one_line(reason)) return false;
  out += "HTTP/1.1 ";
  out += static_cast<char>('0' + status / 100);
  out += static_cast<char>('0' + status / 10 % 10);
  out += static_cast<char>('0' + status % 10);
  out += ' ';
  out += reason;
  out += "\r\n";
  return true;
}

bool append_field(std::string& out, std::string_view name, std::string_view value) {
  if (!valid_field(name, value)) return false;
  // grown once: four appends would each look for room
  const std::size_t begin = out.size();
  out.resize(begin + name.size() + value.size() + 4);
  char* p = std::copy(name.begin(), name.end(), out.data() + begin);
  *p++ = ':';
  *p++ = ' ';
  p = std::copy(value.begin(), value.end(), p);
  *p++ = '\r';
  *p = '\n';
  return true;
}

void append_framing(std::string& out, framing plan) {
  if (plan.kind == framing_kind::chunked) out += "Transfer-Encoding: chunked\r\n";
  if (plan.kind != framing_kind::length) return;
  out += "Content-Length: ";
  out += text::decimal(plan.length);
  out += "\r\n";
}

}  // namespace idem::http
