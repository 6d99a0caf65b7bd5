#include <array>
#include <charconv>

#include "idem/http/body.hpp"

namespace idem::http {

void append_chunk_size(std::string& out, std::uint64_t n) {
  std::array<char, 18> text;
  char* end = std::to_chars(text.data(), text.data() + 16, n, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(text.data(), end);
}

void append_last_chunk(std::string& out, std::string_view trailers) {
  out += "0\r\n";
  out += trailers;
  out += "\r\n";
}

}  // namespace idem::http
