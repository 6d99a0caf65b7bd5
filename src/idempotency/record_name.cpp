#include <charconv>

#include "idem/idempotency/identity.hpp"
#include "idem/memory/block_pool.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {
namespace {

/// Both together behind their length.
void put(sha256& hash, std::string_view prefix, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(prefix.size() + bytes.size());
  char length[4];
  for (int i = 0; i < 4; ++i) length[i] = static_cast<char>((size >> (24 - 8 * i)) & 0xff);
  hash.update({length, sizeof length});
  hash.update(prefix);
  hash.update(bytes);
}
void put(sha256& hash, std::string_view bytes) { put(hash, {}, bytes); }

void put(sha256& hash, const name_parts& parts) {
  char count[24];
  put(hash, {count, static_cast<std::size_t>(std::to_chars(count, count + sizeof count, parts.size()).ptr - count)});
  for (const name_part& part : parts) {
    // no source is written like this: an absent value cannot equal any that is there, an empty one included
    put(hash, part.value ? "" : "absent:", part.kind);
    put(hash, part.value ? std::string_view(*part.value) : std::string_view());
  }
}

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// base64url without padding (RFC 4648 §5)
void append_base64url(std::string& out, const sha256_digest& digest) {
  constexpr std::size_t bytes = std::tuple_size_v<sha256_digest>;
  char text[(bytes * 8 + 5) / 6];
  char* p = text;
  const auto put_six = [&](unsigned bits) { *p++ = alphabet[bits & 63]; };
  std::size_t i = 0;
  for (; i + 3 <= bytes; i += 3) {
    const unsigned three =
        static_cast<unsigned>(digest[i]) << 16 | static_cast<unsigned>(digest[i + 1]) << 8 | digest[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) put_six(three >> shift);
  }
  static_assert(bytes % 3 == 2);
  const unsigned two = static_cast<unsigned>(digest[i]) << 8 | digest[i + 1];
  put_six(two >> 10);
  put_six(two >> 4);
  put_six(two << 2);
  out.append(text, sizeof text);
}

}  // namespace

std::string record_name(std::string_view prefix, std::string_view name_space, const name_parts& scope,
                        const name_parts& key) {
  sha256 hash;
  hash.update("n1");
  put(hash, name_space);
  put(hash, scope);
  put(hash, key);
  std::string name = memory::take_string();
  name.reserve(prefix.size() + 45);
  name += prefix;
  name += '{';
  append_base64url(name, hash.finish());
  name += '}';
  return name;
}

std::string_view identity::hash() const {
  if (name.size() < 45) return {};
  return std::string_view(name).substr(name.size() - 44, 43);
}

char identity::shard() const {
  const std::string_view text = hash();
  // the first character holds the digest's first six bits, and a hex digit four
  return text.empty() ? '0' : hex_digits[alphabet.find(text.front()) >> 2];
}

}  // namespace idem::idempotency
