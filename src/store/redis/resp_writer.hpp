// Commands in the Redis serialization protocol: arrays of bulk strings, appended to one output for all commands of a
// loop turn.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "idem/text/decimal.hpp"

namespace idem::store::redis {

/// A number as an argument.
using text::decimal;

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
