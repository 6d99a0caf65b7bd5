// Replies of Redis. The first byte says in pieces of which size the rest comes.
//
// The replies, and whether more can be read, are the same in one piece, byte by byte and in those pieces, into one
// value that is used again as into fresh ones. What is read is within its bounds, a counted text has its line end
// behind it, and replies that are written again are read back.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/check.hpp"
#include "store/redis/resp_reader.hpp"

namespace {

using namespace idem::store::redis;
using idem::fuzz::check;
using idem::fuzz::exact_copy;

// below the bound of a line, so that what is buffered never decides
constexpr std::size_t max_input = 16 * 1024;

void append(std::string& out, const resp_value& v) {
  switch (v.type) {
    case resp_type::nil: out += "$-1"; break;
    case resp_type::status: out += "+" + v.text; break;
    case resp_type::error: out += "-" + v.text; break;
    case resp_type::integer: out += ":" + std::to_string(v.integer); break;
    case resp_type::text: out += "$" + std::to_string(v.text.size()) + "\r\n" + v.text; break;
    case resp_type::array:
      out += "*" + std::to_string(v.items.size()) + "\r\n";
      for (const auto& item : v.items) append(out, item);
      return;
  }
  out += "\r\n";
}

struct outcome {
  std::vector<std::string> replies;  ///< as they are written
  bool broken = false;

  bool operator==(const outcome&) const = default;
};

/// @param again whether replies are read into one value that has held others
outcome read(std::string_view raw, std::size_t piece_size, bool again) {
  resp_reader reader;
  resp_value used;
  outcome out;
  const auto take = [&](resp_value& v) {
    const auto r = reader.next(v);
    if (r == resp_reader::result::value) append(out.replies.emplace_back(), v);
    out.broken = r == resp_reader::result::broken;
    return r == resp_reader::result::value;
  };
  while (!raw.empty() && !out.broken) {
    const exact_copy piece(raw.substr(0, piece_size));
    raw.remove_prefix(piece.view().size());
    reader.feed(piece.view());
    for (bool more = true; more;) {
      resp_value fresh;
      more = take(again ? used : fresh);
    }
  }
  if (out.broken) {
    reader.feed("+OK\r\n");
    check(reader.next(used) == resp_reader::result::broken, "what is broken stays so");
  }
  return out;
}

/// Finds the counted texts of `v` in `raw`, from `at` on, in their order.
void check_value(const resp_value& v, std::string_view raw, std::size_t& at) {
  check(v.items.size() <= resp_reader::max_items, "an array is within its bound");
  check(v.is(resp_type::array) || v.items.empty(), "only an array has items");
  if (v.is(resp_type::text)) {
    const auto found = raw.find(v.text + "\r\n", at);
    check(found != raw.npos, "behind a counted text is the end of its line");
    at = found + v.text.size() + 2;
  }
  for (const auto& item : v.items) check_value(item, raw, at);
}

void check_values(std::string_view raw) {
  resp_reader reader;
  reader.feed(raw);
  resp_value v;
  for (std::size_t at = 0; reader.next(v) == resp_reader::result::value;) check_value(v, raw, at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > max_input) return 0;
  const std::string_view raw(reinterpret_cast<const char*>(data) + 1, size - 1);
  const outcome whole = read(raw, std::max<std::size_t>(raw.size(), 1), false);
  check(whole == read(raw, 1, true), "replies are the same byte by byte");
  check(whole == read(raw, std::max<std::size_t>(data[0], 1), true), "replies are the same in pieces");
  check_values(raw);
  std::string text;
  for (const auto& reply : whole.replies) text += reply;
  const outcome again = read(text, std::max<std::size_t>(text.size(), 1), false);
  check(!again.broken && again.replies == whole.replies, "replies that are written again are read back");
  return 0;
}
