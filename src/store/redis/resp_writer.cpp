#include "store/redis/resp_writer.hpp"

namespace idem::store::redis {
namespace {

void append_header(std::string& out, char type, std::size_t n) {
  const decimal digits(static_cast<std::int64_t>(n));
  out += type;
  out += std::string_view(digits);
  out += "\r\n";
}

}  // namespace

void append_command(std::string& out, std::initializer_list<std::string_view> args) {
  append_header(out, '*', args.size());
  for (const auto arg : args) {
    append_header(out, '$', arg.size());
    out += arg;
    out += "\r\n";
  }
}

}  // namespace idem::store::redis
