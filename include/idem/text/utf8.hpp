// UTF-8 (RFC 3629), strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace idem::text {

struct utf8_sequence {
  std::size_t length = 0;  ///< bytes, at least 1
  bool valid = false;      ///< else they are the maximal part of a broken sequence, for which one U+FFFD can stand
};

/// What stands at the front of `text`, which must not be empty.
utf8_sequence first_sequence(std::string_view text);

}  // namespace idem::text
