// One scalar out of a JSON body, for keys that stand there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace idem::idempotency {

enum class lookup : std::uint8_t {
  absent,  ///< nothing there, no scalar there, or the body is not of this syntax at all
  found,
  ambiguous,  ///< the path leads to more than one place: two readers could see two keys
  malformed   ///< there, but badly encoded
};

struct lookup_result {
  lookup result = lookup::absent;
  std::string value;
};

/// The string (unescaped), number (digits as written) or `true`/`false` at `pointer` (RFC 6901). Two members with a
/// name on the pointer's way, in an object on its way, make it ambiguous.
lookup_result find_in_json(std::string_view text, std::string_view pointer);

/// The same, also of texts that are not quite JSON but that many an application reads: behind a byte order mark, with
/// bytes in strings that are no UTF-8, and with escapes of lone surrogates, for which the value has three bytes.
/// Without their key such requests would not be protected.
lookup_result find_in_json_as_written(std::string_view text, std::string_view pointer);

/// Whether two members have a name of `pointer`, in an object on its way; `*` stands for every element of an array.
bool stands_twice_in_json(std::string_view text, std::string_view pointer);

}  // namespace idem::idempotency
