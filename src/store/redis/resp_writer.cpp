#include "store/redis/resp_writer.hpp"

#include <charconv>
#include <cstring>

namespace idem::store::redis {
namespace {

/// A type, twenty digits and the line end.
constexpr std::size_t header_bound = 23;

}  // namespace

void command_writer::header(char type, std::size_t n) {
  if (sizeof text_ - used_ < header_bound) flush();
  text_[used_++] = type;
  used_ = static_cast<std::size_t>(std::to_chars(text_ + used_, text_ + used_ + 20, n).ptr - text_);
  line_end();
}

void command_writer::argument(std::string_view bytes, std::string_view more) {
  header('$', bytes.size() + more.size());
  part(bytes);
  if (!more.empty()) part(more);
  line_end();
}

// Leaves room for a line end.
void command_writer::part(std::string_view bytes) {
  if (bytes.size() + 2 > sizeof text_ - used_) flush();
  if (bytes.size() + 2 > sizeof text_) {
    out_ += bytes;
  } else if (!bytes.empty()) {
    std::memcpy(text_ + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
}

void command_writer::line_end() {
  text_[used_++] = '\r';
  text_[used_++] = '\n';
}

void command_writer::flush() {
  out_.append(text_, used_);
  used_ = 0;
}

void append_command(std::string& out, std::initializer_list<std::string_view> args) {
  command_writer w(out, args.size());
  for (const auto arg : args) w.argument(arg);
}

}  // namespace idem::store::redis
