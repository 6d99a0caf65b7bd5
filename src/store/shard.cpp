#include "store/shard.hpp"

#include "idem/text/base64.hpp"

namespace idem::store {

char shard_of(std::string_view name) {
  // the key prefix comes first and may hold braces of its own: the hash is what the last one opens
  const auto brace = name.rfind('{');
  if (brace == std::string_view::npos || brace + 1 >= name.size()) return '0';
  const int six_bits = text::base64_value(name[brace + 1], text::base64_alphabet::url);
  return six_bits < 0 ? '0' : shard_digits[static_cast<std::size_t>(six_bits >> 2)];
}

std::string wake_channel(std::string_view key_prefix, char shard) {
  std::string channel(key_prefix);
  channel += "w:";
  channel += shard;
  return channel;
}

}  // namespace idem::store
