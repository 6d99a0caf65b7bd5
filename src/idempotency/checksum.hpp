// The checksum of a record's answer: it finds what was damaged on its way, not what somebody made to look whole. Who
// can write records can write their checksums as well.
#pragma once

#include <array>
#include <string_view>

#include "idem/idempotency/record.hpp"

namespace idem::idempotency {

/// `x` and 16 hex digits.
using checksum_text = std::array<char, 17>;

/// XXH3 (64 bits) over `<status> <header bytes> <body bytes> <encoding>\n`, the header block and the body as stored.
/// The numbers are covered as well: a flipped length would move the border between header and body.
checksum_text record_checksum(unsigned status, std::string_view header_block, std::string_view stored_body,
                              body_encoding encoding);

/// Whether `text` is the checksum of these. 16 digits without the `x` are the first ones of SHA-256 over the same
/// bytes: so it was written before, at some 15 times the cost.
bool checksum_fits(std::string_view text, unsigned status, std::string_view header_block, std::string_view stored_body,
                   body_encoding encoding);

}  // namespace idem::idempotency
