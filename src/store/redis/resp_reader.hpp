// Replies by hiredis' reader, with what it leaves out: bounds, and a check of the line end behind a bulk string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;
struct redisReadTask;

namespace idem::store::redis {

enum class resp_type : std::uint8_t { nil, status, error, integer, text, array };

struct resp_value {
  resp_type type = resp_type::nil;
  std::string text;  ///< status, error and text
  std::int64_t integer = 0;
  std::vector<resp_value> items;

  bool is(resp_type t) const { return type == t; }
};

/// Feed what was read, then take replies until there are no more. After `broken` nothing more can be read: the
/// connection must end, since where the next reply begins is not known.
class resp_reader {
 public:
  static constexpr std::size_t max_value = 64 * 1024 * 1024;
  static constexpr std::size_t max_line = 64 * 1024;
  static constexpr std::size_t max_items = 4096;  ///< of one array; a page of names is the largest

  enum class result : std::uint8_t { value, need_more, broken };

  resp_reader();
  ~resp_reader();
  resp_reader(const resp_reader&) = delete;
  resp_reader& operator=(const resp_reader&) = delete;

  void feed(std::string_view bytes);
  result next(resp_value& out);

 private:
  struct hooks;
  static resp_value* place(const redisReadTask* task);
  bool within_bounds() const;

  std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  resp_value root_;
  bool broken_ = false;
};

}  // namespace idem::store::redis
