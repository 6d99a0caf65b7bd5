// Commands in the Redis serialization protocol: arrays of bulk strings, appended to one output for all commands of a
// loop turn.
#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace idem::store::redis {

/// A number as an argument. Lives as long as the call that it is written in.
class decimal {
 public:
  explicit decimal(std::int64_t n) : end_(std::to_chars(text_, text_ + sizeof text_, n).ptr) {}
  operator std::string_view() const {
    return {text_, static_cast<std::size_t>(end_ - text_)};
  }  // NOLINT(google-explicit-constructor)

 private:
  char text_[24];
  char* end_;
};

/// One command, argument by argument. Gathers small parts, so that a command is a few appends and not one for each part
/// of each argument: `out` has all of it when the writer ends.
class command_writer {
 public:
  /// @param count of the arguments that will follow, the command's name included
  command_writer(std::string& out, std::size_t count) : out_(out) { header('*', count); }
  ~command_writer() { flush(); }
  command_writer(const command_writer&) = delete;
  command_writer& operator=(const command_writer&) = delete;

  /// One argument, in one or two parts.
  void argument(std::string_view bytes, std::string_view more = {});

 private:
  void header(char type, std::size_t n);
  void part(std::string_view bytes);
  void line_end();
  void flush();

  std::string& out_;
  std::size_t used_ = 0;
  char text_[512];
};

void append_command(std::string& out, std::initializer_list<std::string_view> args);

}  // namespace idem::store::redis
