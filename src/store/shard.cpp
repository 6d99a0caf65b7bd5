#include "store/shard.hpp"

namespace idem::store {
namespace {

// Six bits of a base64url character (RFC 4648 §5).
unsigned sextet(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<unsigned>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<unsigned>(c - 'a') + 26;
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0') + 52;
  return c == '-' ? 62 : c == '_' ? 63 : 0;
}

}  // namespace

char shard_of(std::string_view name) {
  // the key prefix comes first and may hold braces of its own: the hash is what the last one opens
  const auto brace = name.rfind('{');
  if (brace == std::string_view::npos || brace + 1 >= name.size()) return '0';
  return shard_digits[sextet(name[brace + 1]) >> 2];
}

std::string wake_channel(std::string_view key_prefix, char shard) {
  std::string channel(key_prefix);
  channel += "w:";
  channel += shard;
  return channel;
}

}  // namespace idem::store
