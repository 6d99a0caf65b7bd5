#include "store/redis/resp_writer.hpp"

#include <cstring>

namespace idem::store::redis {
namespace {

/// Gathers small parts, so that a command is a few appends and not one for each part of each argument.
class gatherer {
 public:
  explicit gatherer(std::string& out) : out_(out) {}
  ~gatherer() { flush(); }
  gatherer(const gatherer&) = delete;
  gatherer& operator=(const gatherer&) = delete;

  void header(char type, std::size_t n) {
    if (sizeof text_ - used_ < header_bound) flush();
    text_[used_++] = type;
    used_ = static_cast<std::size_t>(std::to_chars(text_ + used_, text_ + used_ + 20, n).ptr - text_);
    line_end();
  }
  void argument(std::string_view bytes) {
    header('$', bytes.size());
    if (bytes.size() + 2 > sizeof text_ - used_) flush();
    if (bytes.size() + 2 > sizeof text_) {
      out_ += bytes;
    } else if (!bytes.empty()) {
      std::memcpy(text_ + used_, bytes.data(), bytes.size());
      used_ += bytes.size();
    }
    line_end();
  }

 private:
  /// A type, twenty digits and the line end.
  static constexpr std::size_t header_bound = 23;

  void line_end() {
    text_[used_++] = '\r';
    text_[used_++] = '\n';
  }
  void flush() {
    out_.append(text_, used_);
    used_ = 0;
  }

  std::string& out_;
  std::size_t used_ = 0;
  char text_[512];
};

}  // namespace

void append_command(std::string& out, std::initializer_list<std::string_view> args) {
  gatherer g(out);
  g.header('*', args.size());
  for (const auto arg : args) g.argument(arg);
}

}  // namespace idem::store::redis
