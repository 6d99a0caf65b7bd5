// HMAC-SHA256 (RFC 2104) and a comparison that takes as long for any bytes.
#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

namespace idem::idempotency {

inline constexpr std::size_t hmac_sha256_size = 32;

/// Of the parts, one after the other.
inline std::string hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
  std::string text;
  if (parts.size() != 1) {
    for (const std::string_view part : parts) text += part;
  }
  const std::string_view all = parts.size() == 1 ? *parts.begin() : std::string_view(text);
  std::string out(hmac_sha256_size, '\0');
  unsigned size = 0;
  const auto* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(all.data()),
           all.size(), reinterpret_cast<unsigned char*>(out.data()), &size);
  // no signature at all could be told from a forged one
  if (made == nullptr || size != hmac_sha256_size) std::abort();
  return out;
}

inline bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace idem::idempotency
