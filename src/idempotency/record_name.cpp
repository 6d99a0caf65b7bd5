#include "idem/idempotency/identity.hpp"
#include "idempotency/sha256.hpp"

namespace idem::idempotency {
namespace {

void put(sha256& hash, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  char length[4];
  for (int i = 0; i < 4; ++i) length[i] = static_cast<char>((size >> (24 - 8 * i)) & 0xff);
  hash.update({length, sizeof length});
  hash.update(bytes);
}

void put(sha256& hash, const std::vector<name_part>& parts) {
  put(hash, std::to_string(parts.size()));
  for (const name_part& part : parts) {
    // no source is written like this: an absent value cannot equal any that is there, an empty one included
    put(hash, part.value ? part.kind : "absent:" + part.kind);
    put(hash, part.value ? std::string_view(*part.value) : std::string_view());
  }
}

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// base64url without padding (RFC 4648 §5)
void append_base64url(std::string& out, const sha256_digest& digest) {
  unsigned bits = 0, held = 0;
  for (const unsigned char byte : digest) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6; held -= 6) out += alphabet[bits >> (held - 6) & 63];
  }
  if (held > 0) out += alphabet[bits << (6 - held) & 63];
}

}  // namespace

std::string record_name(std::string_view prefix, std::string_view name_space, const std::vector<name_part>& scope,
                        const std::vector<name_part>& key) {
  sha256 hash;
  hash.update("n1");
  put(hash, name_space);
  put(hash, scope);
  put(hash, key);
  std::string name;
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
