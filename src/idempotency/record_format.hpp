// What encoding and decoding a record have in common.
#pragma once

#include <array>
#include <charconv>
#include <string_view>

#include "idem/idempotency/record.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {

inline constexpr std::string_view record_version = "i1 ";

/// States that hold an answer; the others never have header or body bytes.
inline bool holds_answer(record_state s) {
  return s == record_state::succeeded || s == record_state::failed_final || s == record_state::without_body;
}

/// The first 16 hex digits of SHA-256 over `<status> <header bytes> <body bytes> <encoding>\n`, the header block and
/// the body as stored. The numbers are covered as well: a flipped length would move the border between header and body.
inline std::array<char, 16> compute_checksum(unsigned status, std::string_view header_block,
                                             std::string_view stored_body, body_encoding encoding) {
  char line[80];
  char* p = std::to_chars(line, line + 24, status).ptr;
  *p++ = ' ';
  p = std::to_chars(p, p + 24, header_block.size()).ptr;
  *p++ = ' ';
  p = std::to_chars(p, p + 24, stored_body.size()).ptr;
  *p++ = ' ';
  *p++ = static_cast<char>(encoding);
  *p++ = '\n';
  sha256 hash;
  hash.update({line, static_cast<std::size_t>(p - line)});
  hash.update(header_block);
  hash.update(stored_body);
  const sha256_digest digest = hash.finish();
  std::array<char, 16> out;
  write_hex(out.data(), digest.data(), 8);
  return out;
}

/// The same, computed once for all records without an answer.
inline std::array<char, 16> record_checksum(unsigned status, std::string_view header_block,
                                            std::string_view stored_body, body_encoding encoding) {
  static const auto empty = compute_checksum(0, {}, {}, body_encoding::plain);
  if (status == 0 && header_block.empty() && stored_body.empty() && encoding == body_encoding::plain) return empty;
  return compute_checksum(status, header_block, stored_body, encoding);
}

}  // namespace idem::idempotency
