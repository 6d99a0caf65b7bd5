#include "store/redis/resp_writer.hpp"

#include <cstring>

namespace idem::store::redis {
namespace {

/// The longest header: a type, twenty digits and the line end.
constexpr std::size_t header_bound = 23;

char* write_header(char* p, char type, std::size_t n) {
  *p++ = type;
  p = std::to_chars(p, p + 20, n).ptr;
  *p++ = '\r';
  *p++ = '\n';
  return p;
}

}  // namespace

void append_command(std::string& out, std::initializer_list<std::string_view> args) {
  std::size_t bound = header_bound;
  for (const auto arg : args) bound += header_bound + arg.size() + 2;
  const std::size_t begin = out.size();
  if (out.capacity() < begin + bound) out.reserve(std::max(2 * out.capacity(), begin + bound));
  out.resize(begin + bound);  // within the room: as good as free, next to a check for each part
  char* p = write_header(out.data() + begin, '*', args.size());
  for (const auto arg : args) {
    p = write_header(p, '$', arg.size());
    if (!arg.empty()) std::memcpy(p, arg.data(), arg.size());
    p += arg.size();
    *p++ = '\r';
    *p++ = '\n';
  }
  out.resize(static_cast<std::size_t>(p - out.data()));
}

}  // namespace idem::store::redis
