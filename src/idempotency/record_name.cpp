#include "idem/idempotency/identity.hpp"
#include "idem/memory/block_pool.hpp"
#include "idem/text/base64.hpp"
#include "idem/text/decimal.hpp"
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
  put(hash, text::decimal(parts.size()));
  for (const name_part& part : parts) {
    // no source is written like this: an absent value cannot equal any that is there, an empty one included
    put(hash, part.value ? "" : "absent:", part.kind);
    put(hash, part.value ? std::string_view(*part.value) : std::string_view());
  }
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
  text::append_base64(name, hash.finish(), text::base64_alphabet::url);
  name += '}';
  return name;
}

std::string_view identity::hash() const {
  if (name.size() < 45) return {};
  return std::string_view(name).substr(name.size() - 44, 43);
}

}  // namespace idem::idempotency
