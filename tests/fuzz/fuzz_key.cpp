// Keys: the first byte chooses the syntax, each line that follows is a field line.
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/check.hpp"
#include "fuzz/input.hpp"
#include "idem/idempotency/key.hpp"

namespace {

using idem::fuzz::check;
using idem::idempotency::key_syntax;
using idem::idempotency::parse_key;
using idem::idempotency::parsed_key;

std::string quote(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

parsed_key parse_one(std::string_view line, const key_syntax& syntax) {
  const std::string_view lines[] = {line};
  return parse_key(lines, syntax);
}

// An accepted key is within its bounds, and each way to write it is that same key.
void check_accepted(const parsed_key& key, const key_syntax& syntax) {
  check(!key.value.empty() && key.value.size() <= syntax.max_length, "a key is within its bounds");
  for (const char c : key.value) check(c >= 0x20 && c <= 0x7e, "a key is printable ASCII");
  for (const std::string& line : {quote(key.value), quote(key.value) + ";p=1", " " + quote(key.value) + "\t"}) {
    const parsed_key again = parse_one(line, syntax);
    check(again.ok && again.value == key.value, "quoting a key again gives the same key");
  }
  const bool bare = key.value.find_first_of(" \",;") == std::string::npos;
  const parsed_key as_it_is = parse_one(key.value, {syntax.max_length, false, syntax.uuid});
  if (bare) check(as_it_is.ok && as_it_is.value == key.value, "a key without special characters can stand bare");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const key_syntax syntax{static_cast<std::size_t>(data[0] & 4 ? 255 : 8 + 28 * (data[0] & 1)), (data[0] & 2) != 0,
                          (data[0] & 1) != 0};
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string_view> lines;
  do lines.push_back(idem::fuzz::take_line(rest));
  while (!rest.empty());
  const parsed_key key = parse_key(lines, syntax);
  check(key.ok || !key.why.empty(), "a refusal has its reason");
  if (!key.ok) return 0;
  check(lines.size() == 1, "a key comes in one line");
  check_accepted(key, syntax);
  return 0;
}
