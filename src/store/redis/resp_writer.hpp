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

void append_command(std::string& out, std::initializer_list<std::string_view> args);

}  // namespace idem::store::redis
