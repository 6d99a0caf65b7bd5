#include "idempotency/checksum.hpp"

// The header alone: no library to have at run time, and a small answer is one short inlined loop.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>

#include "idem/text/hex.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {
namespace {

// What stands before the header block.
class numbers_line {
 public:
  numbers_line(unsigned status, std::size_t header_bytes, std::size_t body_bytes, body_encoding encoding) {
    number(status);
    number(header_bytes);
    number(body_bytes);
    *end_++ = static_cast<char>(encoding);
    *end_++ = '\n';
  }
  operator std::string_view() const {  // NOLINT(google-explicit-constructor)
    return {text_, static_cast<std::size_t>(end_ - text_)};
  }

 private:
  void number(std::size_t n) {
    end_ = std::to_chars(end_, end_ + 24, n).ptr;
    *end_++ = ' ';
  }

  char text_[80];
  char* end_ = text_;
};

checksum_text xxh3(std::string_view line, std::string_view header_block, std::string_view stored_body) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const std::string_view part : {line, header_block, stored_body})
    XXH3_64bits_update(&state, part.data(), part.size());
  XXH64_canonical_t digest;
  XXH64_canonicalFromHash(&digest, XXH3_64bits_digest(&state));
  checksum_text out;
  out[0] = 'x';
  text::write_hex(out.data() + 1, digest.digest, sizeof digest.digest);
  return out;
}

std::array<char, 16> sha256_prefix(std::string_view line, std::string_view header_block, std::string_view stored_body) {
  sha256 hash;
  hash.update(line);
  hash.update(header_block);
  hash.update(stored_body);
  const sha256_digest digest = hash.finish();
  std::array<char, 16> out;
  text::write_hex(out.data(), digest.data(), 8);
  return out;
}

template <class Text>
bool equal(std::string_view text, const Text& expected) {
  return text == std::string_view(expected.data(), expected.size());
}

}  // namespace

checksum_text record_checksum(unsigned status, std::string_view header_block, std::string_view stored_body,
                              body_encoding encoding) {
  // all records without an answer have one
  static const checksum_text empty = xxh3(numbers_line(0, 0, 0, body_encoding::plain), {}, {});
  if (status == 0 && header_block.empty() && stored_body.empty() && encoding == body_encoding::plain) return empty;
  return xxh3(numbers_line(status, header_block.size(), stored_body.size(), encoding), header_block, stored_body);
}

bool checksum_fits(std::string_view text, unsigned status, std::string_view header_block, std::string_view stored_body,
                   body_encoding encoding) {
  if (text.starts_with('x')) return equal(text, record_checksum(status, header_block, stored_body, encoding));
  const numbers_line line(status, header_block.size(), stored_body.size(), encoding);
  return equal(text, sha256_prefix(line, header_block, stored_body));
}

}  // namespace idem::idempotency
